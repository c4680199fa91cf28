import type { Write } from '#model';

const SHOWN_CHARS_MAX = 400;

/** A write did not find its row as it expected, or the database refused it: a bug in a rule. Its whole command is undone. */
export class GuardError extends Error {
  readonly write: Write;

  constructor(problem: string, { write, cause }: { readonly write: Write; readonly cause?: unknown }) {
    super(`bug: ${write.set} ${problem}: ${JSON.stringify(write).slice(0, SHOWN_CHARS_MAX)}`, { cause });
    this.name = 'GuardError';
    this.write = write;
  }
}
