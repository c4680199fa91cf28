// execution: THE ONLY DOOR. Every change of state goes through the ExecutionModelManager, one command, one transaction.
// It never decides (model does) and never speaks SQL (store does); the writable handle does not leave this room.
// Start reading at manager.ts, then commit-queue.ts.
/** Rows of a data folder for those who cannot wait for them; it cannot write. */
export { importedRows, openReader, type Reader, SCHEMA_VERSION, type TableRows } from '#store';
export { type Arrival, Arrivals, type Taker } from './arrivals.ts';
export { type Change, ChangeFeed, type NewlyDue } from './changes.ts';
export { CommitQueue } from './commit-queue.ts';
export {
  type Engine,
  type EngineData,
  type EngineOptions,
  LEASE_MS,
  type Observer,
  openEngine,
  startEngine,
} from './engine.ts';
export { EXECUTORS, type FleetDatabase, type FleetOptions, joinFleet, type Line, type Member } from './fleet.ts';
export { ExecutionModelManager, type ModelSteps } from './manager.ts';
export type { ExecutorPort, OperatorPort, WorkerPort } from './ports.ts';
export { executorPort, operatorPort, workerPort } from './ports.ts';
export type { RecoveryReport } from './recovery.ts';
