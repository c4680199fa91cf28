import type {
  Delivery,
  Enforcement,
  Event,
  EventInput,
  Evidence,
  Execution,
  HandlerState,
  Input,
  MaintenanceTask,
  Mutation,
  PrunedDelivery,
  PrunedEvent,
  Run,
  RunLog,
  RunRead,
  Script,
  Session,
  Workflow,
} from './rows.ts';

export interface ImportedScript {
  readonly row: Script;
  readonly code: string;
  readonly manifest: string;
}

/** One workflow with its history, as another engine had it. What people allow, and what they hold, is not in it. */
export interface ImportedRows {
  readonly workflow: Workflow;
  readonly scripts: readonly ImportedScript[];
  readonly executions: readonly Execution[];
  readonly enforcements: readonly Enforcement[];
  readonly sessions: readonly Session[];
  readonly deliveries: readonly Delivery[];
  readonly runs: readonly Run[];
  readonly events: readonly Event[];
  readonly mutations: readonly Mutation[];
  readonly evidence: readonly Evidence[];
  readonly inputs: readonly Input[];
  readonly eventInputs: readonly EventInput[];
  readonly handlerStates: readonly HandlerState[];
  readonly tasks: readonly MaintenanceTask[];
  readonly runLogs: readonly RunLog[];
  readonly runReads: readonly RunRead[];
  readonly prunedEvents: readonly PrunedEvent[];
  readonly prunedDeliveries: readonly PrunedDelivery[];
}
