// How the tree itself reads: every room says what it is, no file grows without end, no name says nothing.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { pathsBelow } from './source-files.ts';

const LINES_MAX = 400;
const OPENING_LINES_MIN = 3;
const EMPTY_NAMES = /^(?:utils?|helpers?|common|misc|types?|shared|stuff|lib)$/;

export function openingOffences(root: string): string[] {
  return readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && pathsBelow(root, `src/${entry.name}`).length > 0)
    .map(({ name }) => `src/${name}/index.ts`)
    .flatMap((path) => {
      if (!existsSync(join(root, path))) return [`${path} is missing: a room has one door`];
      const lines = openingComment(readFileSync(join(root, path), 'utf8'));
      return lines >= OPENING_LINES_MIN
        ? []
        : [
            `${path} opens with ${lines} lines of comment: say what the room is for, what it never does, where to start`,
          ];
    });
}

export function lengthOffences(root: string): string[] {
  return pathsBelow(root, 'src')
    .map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > LINES_MAX)
    .map(({ path, lines }) => `${path} has ${lines} lines, more than ${LINES_MAX}: split it by meaning`);
}

export function nameOffences(root: string): string[] {
  return pathsBelow(root, 'src', 'test', 'bench', 'scripts')
    .filter((path) => path.split('/').some((part) => EMPTY_NAMES.test(parse(part.replace(/\.test\./, '.')).name)))
    .map((path) => `${path} has a name that says nothing: name it for the one thing it holds`);
}

/** How many lines of the comment a file opens with say something. */
function openingComment(text: string): number {
  const opening = /^(?:\/\/[^\n]*\n)+|^\/\*[\s\S]*?\*\//.exec(text)?.[0] ?? '';
  return opening.split('\n').filter((line) => /[a-z]/i.test(line)).length;
}
