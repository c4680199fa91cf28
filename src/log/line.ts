export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['human', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** What happened, and to which things: ids and words of the engine, never what somebody else said. */
export interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly about: Readonly<Record<string, string | number>>;
}
