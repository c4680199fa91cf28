// cli: the commands a person types. It starts an engine here, or talks to a running one over its API, and prints what comes back.
// It never decides anything about a workflow, and never writes to a data folder that an engine has open.
// Start reading at program.ts, then commands/status.ts; start.ts runs the engine.
export { runCli } from './program.ts';
export { processTerminal, type Terminal } from './terminal.ts';
