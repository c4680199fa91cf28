/** What comes in time, else undefined. */
export async function within<T>(ms: number, act: Promise<T>): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => over.resolve(undefined), Math.max(0, ms));
  try {
    return await Promise.race([act, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
