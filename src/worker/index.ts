// worker: takes what executors hand off, shows that it is alive, and ends what the dead have left.
// It never hands anything off, and writes nothing of an execution that is not its own: the fence is in every command.
// Start reading at worker.ts, then lease.ts and reaper.ts.
export { Worker, type WorkerOptions } from './worker.ts';
export { WorkflowNames } from './workflow-names.ts';
