/** A version of a workflow as it is kept. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly contentHash: string;
}

export type NextVersion<V extends Version> =
  | { readonly kind: 'known'; readonly version: V }
  | { readonly kind: 'new'; readonly version: { readonly major: number; readonly minor: number } };

/** The same content is the same version, however often it is deployed; other content takes the next number. */
export function nextVersion<V extends Version>(
  existing: readonly V[],
  { contentHash }: { readonly contentHash: string },
  { major = false }: { readonly major?: boolean } = {},
): NextVersion<V> {
  const newestFirst = [...existing].sort((a, b) => b.major - a.major || b.minor - a.minor);
  const known = newestFirst.find((version) => version.contentHash === contentHash);
  if (known) return { kind: 'known', version: known };
  const [newest] = newestFirst;
  if (!newest) return { kind: 'new', version: { major: 1, minor: 0 } };
  const version = major ? { major: newest.major + 1, minor: 0 } : { major: newest.major, minor: newest.minor + 1 };
  return { kind: 'new', version };
}
