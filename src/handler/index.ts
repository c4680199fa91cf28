// handler: drives one run through its phases, reading fresh rows before each step.
// It never decides what may happen (the manager does) and never touches a connection's secrets (connectors do).
// Start reading at drive-run.ts.
export { type Ahead, prepareFirst } from './ahead.ts';
export { CancelWatch } from './cancel.ts';
export { driveRun } from './drive-run.ts';
export { firstRun, goOn } from './go-on.ts';
export type { HandlerHost } from './handler-host.ts';
export type { Moved } from './moved.ts';
export { PeekHabits, type SeenEvent } from './peek-habits.ts';
export { type LoadedScript, ScriptShelf } from './script-shelf.ts';
export { whileUnavailable } from './while-unavailable.ts';
