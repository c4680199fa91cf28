import { Option } from 'commander';
import { journal, LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel, openLog } from '#log';
import type { Write } from '#model';
import { errorText, factsOf } from './print-error.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface LogChoice {
  readonly log?: LogFormat;
  readonly logLevel?: LogLevel;
}

/** What an engine says on the standard error while it works. */
export interface EngineLog {
  /** To whoever started it. */
  say(text: string): void;
  /** What was asked for will hardly be what was meant. */
  warn(text: string): void;
  error(error: unknown): void;
  /** What a command wrote, as lines with ids. */
  wrote(writes: readonly Write[]): void;
}

export function logOptions(): readonly Option[] {
  return [
    new Option('--log <format>', 'how it tells what happens (PAWL_LOG); json where nobody looks on').choices(
      LOG_FORMATS,
    ),
    new Option('--log-level <level>', 'from which level on (PAWL_LOG_LEVEL)').choices(LOG_LEVELS),
  ];
}

export function engineLog({ log, logLevel }: LogChoice, terminal: Terminal): EngineLog {
  const { PAWL_LOG, PAWL_LOG_LEVEL } = terminal.env;
  const format =
    log ??
    oneOf('PAWL_LOG', PAWL_LOG, LOG_FORMATS) ??
    (terminal.isInteractive ? ('human' as const) : ('json' as const));
  // A person at a terminal wants to hear of trouble; whatever collects lines sorts them by itself.
  const level =
    logLevel ?? oneOf('PAWL_LOG_LEVEL', PAWL_LOG_LEVEL, LOG_LEVELS) ?? (format === 'human' ? 'warn' : 'info');
  const opened = openLog({ format, level, write: (text) => terminal.err(text) });
  const wrote = journal((line) => opened.tell(line));
  if (format === 'human') {
    const say = (text: string): void => terminal.err(`pawl: ${text}\n`);
    return { say, warn: say, error: (error) => terminal.err(errorText(error)), wrote };
  }
  return {
    say: (text) => opened.tell({ level: 'info', message: text, about: {} }),
    warn: (text) => opened.tell({ level: 'warn', message: text, about: {} }),
    error(error) {
      const { message, code, why, ids, next } = factsOf(error);
      const about = { ...ids, code, why, next: next.map(({ label }) => label).join('; ') };
      opened.tell({ level: 'error', message, about });
    },
    wrote,
  };
}

function oneOf<T extends string>(name: string, text: string | undefined, allowed: readonly T[]): T | undefined {
  if (text === undefined || text === '') return undefined;
  const found = allowed.find((each) => each === text);
  if (found !== undefined) return found;
  throw new UsageError(`${name} is "${text}"`, `it is one of ${allowed.join(', ')}`, [{ label: `correct ${name}` }]);
}
