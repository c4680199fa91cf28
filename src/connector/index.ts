// connector: the services outside, one folder each: checks a call, shows it, makes it, and says truly what came of it.
// It never retries, never decides what an outcome means for a run, and keeps no secret longer than a call.
// Start reading at connector.ts for the contract, then registry.ts; http/mutate.ts shows one call from end to end.
export type {
  Connector,
  Host,
  MutationLimits,
  MutationMethod,
  ReadLimits,
  ReadMethod,
  RecordedCall,
} from './connector.ts';
export { CallInvalidError, ConfigInvalidError } from './errors.ts';
export type { Slot } from './limiter.ts';
export type { CallError, ErrorClass, NotDone, Outcome, ReadOutcome, Reconciled } from './outcome.ts';
export {
  type Catalogue,
  type Connections,
  catalogueOf,
  type DescribedCall,
  type MutateOptions,
  type OpenOptions,
  openConnections,
  type ReadOptions,
} from './registry.ts';
export { type CallSecrets, callSecrets, type SecretReference, type SecretSource, secretReference } from './secrets.ts';
export type { ApprovalRule, Settings } from './settings.ts';
