/** Keeps what was used last, and drops what was not used for longest once there are more than so many. */
export function keepNewest<K, V>(kept: Map<K, V>, key: K, value: V, max: number): void {
  kept.delete(key);
  kept.set(key, value);
  if (kept.size <= max) return;
  const oldest = kept.keys().next();
  if (!oldest.done) kept.delete(oldest.value);
}
