import { SourceMap } from 'node:module';
import type { Place } from './finding.ts';

// Sources of a compiled script are named for people: the author's by their path beside the script, others with a prefix.
export const SDK_PREFIX = 'pawl:';
export const PACKAGE_PREFIX = 'npm:';

interface Mapped {
  readonly sourceMap: string;
}

/** Where a position of the compiled code was written; both numbers count from 1. */
export function mapPosition({ sourceMap }: Mapped, line: number, column: number): Place | undefined {
  return positionIn(parseMap(sourceMap), line, column);
}

/** The innermost frame that is the author's own: where to look first. */
export function authorPosition(
  { sourceMap }: Mapped,
  stack: readonly { readonly line: number; readonly column: number }[],
): Place | undefined {
  const map = parseMap(sourceMap);
  for (const frame of stack) {
    const place = positionIn(map, frame.line, frame.column);
    if (place && !place.file.startsWith(SDK_PREFIX) && !place.file.startsWith(PACKAGE_PREFIX)) return place;
  }
  return undefined;
}

export function parseMap(sourceMap: string): SourceMap {
  return new SourceMap(JSON.parse(sourceMap));
}

export function positionIn(map: SourceMap, line: number, column: number): Place | undefined {
  const entry = map.findEntry(Math.max(0, line - 1), Math.max(0, column - 1));
  // The map answers with the mapping before; on another line that is another statement, perhaps another file.
  if (!('originalSource' in entry) || entry.generatedLine !== line - 1) return undefined;
  return { file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}
