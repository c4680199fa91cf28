// sdk: what an author imports as 'pawl': defineWorkflow in both forms, topic, defineConfig, secret, and the types behind them.
// It never depends on a package or on Node: it is bundled with every script and runs in the sandbox.
// Start reading at workflow.ts, then phases.ts for what each phase may do, then definition.ts for what the host gets.

export { type Config, type Connection, defineConfig, secret } from './config.ts';
// By star, so that `declare module 'pawl'` can add to these two interfaces.
export type * from './connection-options.ts';
export type * from './connectors.ts';
export {
  type ConsumerDefinition,
  DEFINITION,
  type HostCtx,
  type PrepareResult,
  type ProducerDefinition,
  type TopicDefinition,
  type WorkflowDefinition,
} from './definition.ts';
export type {
  Consumer,
  Delivery,
  Duration,
  Each,
  Producer,
  Schedule,
  Verify,
  Webhook,
} from './handlers.ts';
export type {
  EventOf,
  Idle,
  MutateCtx,
  MutationResult,
  NextCtx,
  PrepareCtx,
  Prepared,
  ProducerCtx,
  Reservation,
  Taken,
} from './phases.ts';
export { type PayloadOf, type PublishedOf, type StandardSchemaV1, type Topic, type Topics, topic } from './topic.ts';
export { defineWorkflow, type Workflow, type WorkflowLiteral } from './workflow.ts';
