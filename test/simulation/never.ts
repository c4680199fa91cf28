/**
 * What a process that died waits for. Each wait is its own: one promise for all would keep everything that ever waited for it, the world of
 * every history that was played.
 */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
