import type { RunId } from '#base';
import { authorSources, parseManifest } from '#script';
import type { Api } from './context.ts';

const LINES_BEFORE = 6;
const LINES_AFTER = 4;

/** The author's lines around the place where a run failed; none where the files were not sent along. */
export async function linesAround(
  { app }: Api,
  run: RunId | null,
  { file, line }: { readonly file: string; readonly line: number },
): Promise<{ number: number; text: string }[]> {
  const [row] = run === null ? [] : await app.engine.history.fetch('run', run);
  const kept = row && (await app.engine.reader.scriptCode(row.scriptId));
  const source = kept && authorSources(parseManifest(kept.manifest)).find((each) => each.file === file);
  if (!source) return [];
  return source.text
    .split('\n')
    .map((each, position) => ({ number: position + 1, text: each }))
    .slice(Math.max(0, line - 1 - LINES_BEFORE), line + LINES_AFTER);
}
