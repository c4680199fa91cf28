/** A bug, not a bad input: the process must not go on as if nothing had happened. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`bug: ${message}`);
}

export function assertNever(value: never): never {
  throw new Error(`bug: unexpected ${JSON.stringify(value)}`);
}
