// log: what an engine says while it works, as lines with ids: for a person at a terminal, or as JSON for whatever collects them.
// It never says what a script, a payload or a provider said, and never a secret: only what happened to which thing.
// Start reading at journal.ts, then open-log.ts.
export { journal } from './journal.ts';
export { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from './line.ts';
export { openLog } from './open-log.ts';
