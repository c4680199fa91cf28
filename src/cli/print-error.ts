import { type NextStep, PawlError } from '#base';
import { EngineAnswerError } from './engine-errors.ts';
import type { Terminal } from './terminal.ts';
import { typed } from './words.ts';

export const SCHEMA = 1;

/** What, why, and the exact commands to go on with; as JSON on the standard output where JSON was asked for. */
export function printError(terminal: Terminal, error: unknown, json: boolean): void {
  if (json) terminal.out(`${JSON.stringify({ schema: SCHEMA, error: factsOf(error) })}\n`);
  else terminal.err(errorText(error));
}

export function errorText(error: unknown): string {
  const { message, why, next, docs } = factsOf(error);
  return [`pawl: ${message}`, `  why: ${why}`, ...next.map(nextLine), ...(docs === null ? [] : [`  more: ${docs}`])]
    .map((line) => `${line}\n`)
    .join('');
}

export function nextLine({ label, argv }: NextStep): string {
  return argv === undefined ? `  next: ${label}` : `  next: ${label}: ${typed(argv)}`;
}

const DOCS = 'docs/cli.md';

interface Facts {
  readonly code: string;
  readonly message: string;
  readonly why: string;
  readonly retryable: boolean;
  readonly ids: Readonly<Record<string, string>>;
  readonly docs: string | null;
  readonly next: readonly NextStep[];
  readonly notBefore?: number;
  readonly findings?: readonly unknown[];
}

/** The same as fields, for whatever reads them. */
export function factsOf(error: unknown): Facts {
  if (!(error instanceof PawlError)) return factsOfBug(error);
  const { code, message, why, retryable, ids, next, notBefore } = error;
  return {
    code,
    message,
    why,
    retryable,
    ids,
    docs: error instanceof EngineAnswerError ? (error.docs ?? null) : DOCS,
    next,
    ...(notBefore !== undefined && { notBefore }),
    ...('findings' in error && Array.isArray(error.findings) && { findings: error.findings }),
  };
}

/** Nobody foresaw it: everything that helps to report it is shown. */
function factsOfBug(error: unknown): Facts {
  return {
    code: 'bug',
    message: error instanceof Error ? error.message : String(error),
    why: 'this error was not foreseen: it is a bug of Pawl',
    retryable: false,
    ids: {},
    docs: null,
    next: [
      { label: `report it with this: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` },
    ],
  };
}
