import { hostname } from 'node:os';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** As many as are kept. */
const NAME_CHARS_MAX = 200;

/** What people call this process. A variable that is empty was never meant. */
export function processName({ PAWL_NAME: name = '' }: Terminal['env']): string {
  if (name === '') return `${hostname()}-${process.pid}`;
  if (name.length > NAME_CHARS_MAX)
    throw unfit(`${name.length} characters long, and at most ${NAME_CHARS_MAX} are kept`);
  if (name.trim() === '') throw unfit('blank');
  if (/[\p{Cc}\p{Cs}]/u.test(name)) throw unfit('not to be typed: it holds a control character');
  return name;
}

function unfit(why: string): UsageError {
  return new UsageError('PAWL_NAME is no name for a process', `it is ${why}`, [
    { label: 'set another, or none: then the machine’s own name is taken' },
  ]);
}
