import type { Calls } from './calls.ts';
import type { CompiledScript } from './compiled-script.ts';
import type { ScriptSchedule } from './schedule.ts';
import { authorPosition } from './source-map.ts';

/** What the host must know of a version beside its handlers; kept with it as JSON. */
export interface Manifest {
  /** Connection name → connector type. */
  readonly uses: Readonly<Record<string, string>>;
  /** What it asks of each of them, as its author's files say; the host asks a person about anything else. */
  readonly calls: Calls;
  readonly schedules: Readonly<Record<string, ScriptSchedule>>;
  readonly webhooks: Readonly<Record<string, { readonly verify: string }>>;
  readonly sourceMap: string;
}

export function manifestOf({ uses, calls, schedules, webhooks, sourceMap }: CompiledScript): string {
  return JSON.stringify({ uses, calls, schedules, webhooks, sourceMap } satisfies Manifest);
}

const EMPTY: Manifest = { uses: {}, calls: {}, schedules: {}, webhooks: {}, sourceMap: '' };

/** Only `manifestOf` makes what this reads. */
export function parseManifest(json: string): Manifest {
  return { ...EMPTY, ...(JSON.parse(json) as Partial<Manifest>) };
}

/** The author's own files, as far as they came with the script. */
export function authorSources({ sourceMap }: Pick<Manifest, 'sourceMap'>): readonly { file: string; text: string }[] {
  if (sourceMap === '') return [];
  const { sources, sourcesContent = [] } = JSON.parse(sourceMap) as {
    sources: readonly string[];
    sourcesContent?: readonly (string | null)[];
  };
  return sources.flatMap((file, position) => {
    const text = sourcesContent[position];
    return typeof text === 'string' ? [{ file, text }] : [];
  });
}

/** ` (orders.ts:12:5)`: where in the author's file a script failed; nothing when nobody can tell. */
export function positionText(
  manifest: Manifest,
  stack: readonly { readonly line: number; readonly column: number }[],
): string {
  const place = manifest.sourceMap === '' ? undefined : authorPosition(manifest, stack);
  return place ? ` (${place.file}:${place.line}:${place.column})` : '';
}
