import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '#base';
import type { Failure } from './explore.ts';
import type { History } from './history.ts';

const BROKE_CHARS_MAX = 2_000;
const NAME_CHARS = 8;

const FOLDER = join(dirname(import.meta.dirname), 'regressions');

/** A history that once broke a promise, as it is kept. */
export interface Regression {
  /** What happens in it. */
  readonly says: string;
  /** What was found. */
  readonly broke: string;
  readonly history: History;
}

/** By the names of their files. */
export function regressions(): ReadonlyMap<string, Regression> {
  const files = globSync('*.json', { cwd: FOLDER }).sort();
  return new Map(files.map((file) => [basename(file, '.json'), read(join(FOLDER, file))]));
}

/** One history, from wherever somebody has it. */
export function read(path: string): Regression {
  return JSON.parse(readFileSync(path, 'utf8')) as Regression;
}

/** A failure becomes a file that is played for ever after. Whoever mends it gives it a name and says what happens in it. */
export function save({ history, violation }: Failure): string {
  mkdirSync(FOLDER, { recursive: true });
  const broke = violation.slice(0, BROKE_CHARS_MAX);
  const path = join(FOLDER, `found-${sha256(JSON.stringify(history)).slice(0, NAME_CHARS)}.json`);
  writeFileSync(path, shown({ says: 'found by chance', broke, history }));
  return path;
}

/** A line for each decision, so that a history can be read. */
function shown({ says, broke, history: { world, decisions, deaths = [], freezes = [] } }: Regression): string {
  const lines = decisions.map((decision) => `      ${spaced(decision)}`);
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n    ]`;
  const moments = Object.entries({ deaths, freezes }).filter(([, list]) => list.length > 0);
  return `{
  "says": ${JSON.stringify(says)},
  "broke": ${JSON.stringify(broke)},
  "history": {
    "world": ${spaced(world)},
    "decisions": ${list}${moments.map(([name, at]) => `,\n    "${name}": ${JSON.stringify(at)}`).join('')}
  }
}
`;
}

function spaced(value: object): string {
  const fields = Object.entries(value).map(([name, field]) => `"${name}": ${JSON.stringify(field)}`);
  return `{ ${fields.join(', ')} }`;
}
