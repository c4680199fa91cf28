import { createRequire } from 'node:module';
import { type Line, LOG_LEVELS, type LogFormat, type LogLevel } from './line.ts';

export interface Log {
  tell(line: Line): void;
}

export interface LogOptions {
  readonly format: LogFormat;
  /** Nothing below this is said. */
  readonly level: LogLevel;
  /** Gets whole lines. */
  readonly write: (text: string) => void;
}

export function openLog({ format, level, write }: LogOptions): Log {
  return format === 'human' ? humanLog(level, write) : jsonLog(level, write);
}

const require = createRequire(import.meta.url);

function jsonLog(level: LogLevel, write: (text: string) => void): Log {
  // Loaded where it is needed: every other command starts faster without it.
  const { pino } = require('pino') as typeof import('pino');
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return { tell: ({ level: said, message, about }) => logger[said](about, message) };
}

function humanLog(level: LogLevel, write: (text: string) => void): Log {
  const least = LOG_LEVELS.indexOf(level);
  return {
    tell({ level: said, message, about }) {
      if (LOG_LEVELS.indexOf(said) < least) return;
      const facts = Object.entries(about).map(([name, value]) => `${name} ${value}`);
      write(`pawl: ${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}\n`);
    },
  };
}
