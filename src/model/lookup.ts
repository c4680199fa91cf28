import type {
  DeliveryId,
  EventId,
  ExecutionId,
  InputId,
  MutationId,
  NoticeId,
  PermissionRequestId,
  RunId,
  ScriptId,
  SessionId,
  TaskId,
  TokenId,
  WorkerId,
  WorkflowId,
} from '#base';
import type {
  Connection,
  Delivery,
  Event,
  EventInput,
  Evidence,
  Execution,
  HandlerState,
  Input,
  MaintenanceTask,
  Message,
  Mutation,
  Run,
  Script,
  Session,
  Workflow,
} from './rows.ts';
import type { Limit, Slot, Worker } from './rows-of-fleet.ts';
import type { Allowance, Grant, Notice, PermissionRequest, Secret, Token } from './rows-of-people.ts';

/** The oldest pending event of a topic, and the newest moment an event of it became pending. */
export interface TopicHead {
  readonly workflowId: WorkflowId;
  readonly topic: string;
  readonly oldestId: EventId;
  readonly newestSeq: number;
}

/**
 * Everything a rule may ask for, each answered by one indexed statement. A store answers them from its tables, a test from
 * plain maps; a rule cannot tell the difference.
 */
export interface Lookups {
  workflow: { by: [WorkflowId]; gives: Workflow };
  workflowNamed: { by: [string]; gives: Workflow };
  workflowsHeldBy: { by: [connection: string]; gives: Workflow };
  script: { by: [ScriptId]; gives: Script };
  scriptsOf: { by: [WorkflowId]; gives: Script };
  execution: { by: [ExecutionId]; gives: Execution };
  openExecutions: { by: [WorkflowId]; gives: Execution };
  limit: { by: [name: string]; gives: Limit };
  slotsOf: { by: [limit: string]; gives: Slot };
  session: { by: [SessionId]; gives: Session };
  openSession: { by: [WorkflowId]; gives: Session };
  run: { by: [RunId]; gives: Run };
  activeRun: { by: [WorkflowId]; gives: Run };
  lastRun: { by: [root: RunId]; gives: Run };
  mutation: { by: [MutationId]; gives: Mutation };
  ledger: { by: [root: RunId]; gives: Mutation };
  openLedger: { by: [WorkflowId]; gives: Mutation };
  ledgerOfEvent: { by: [firstEvent: EventId]; gives: Mutation };
  /** Look-ups of unknown outcomes that a worker has claimed. */
  lookUpsOf: { by: [WorkerId]; gives: Mutation };
  evidenceOf: { by: [MutationId]; gives: Evidence };
  event: { by: [EventId]; gives: Event };
  eventKeyed: { by: [WorkflowId, topic: string, messageId: string]; gives: Event };
  reserved: { by: [RunId]; gives: Event };
  anyReserved: { by: [WorkflowId]; gives: Event };
  heads: { by: [WorkflowId]; gives: TopicHead };
  inputKeyed: { by: [WorkflowId, source: string, type: string, externalId: string]; gives: Input };
  inputsOf: { by: [EventId]; gives: EventInput };
  handlerStates: { by: [WorkflowId]; gives: HandlerState };
  delivery: { by: [DeliveryId]; gives: Delivery };
  deliveryKeyed: { by: [WorkflowId, handler: string, deliveryId: string]; gives: Delivery };
  oldestDelivery: { by: [WorkflowId]; gives: Delivery };
  deliveriesTo: { by: [WorkflowId, handler: string]; gives: Delivery };
  task: { by: [TaskId]; gives: MaintenanceTask };
  openTasks: { by: [WorkflowId]; gives: MaintenanceTask };
  worker: { by: [WorkerId]; gives: Worker };
  connection: { by: [name: string]; gives: Connection };
  token: { by: [TokenId]; gives: Token };
  tokenHashed: { by: [hash: string]; gives: Token };
  secret: { by: [name: string]; gives: Secret };
  grantsOf: { by: [WorkflowId]; gives: Grant };
  permissionRequest: { by: [PermissionRequestId]; gives: PermissionRequest };
  openRequests: { by: [WorkflowId]; gives: PermissionRequest };
  notice: { by: [NoticeId]; gives: Notice };
  noticesOf: { by: [caseKey: string]; gives: Notice };

  // What refers to a row of history. The workflow is what is held; a row of another one is for the rule to refuse.
  chain: { by: [WorkflowId, root: RunId]; gives: Run };
  takenBy: { by: [WorkflowId, RunId]; gives: Event };
  publishedBy: { by: [WorkflowId, RunId]; gives: Event };
  redosOf: { by: [WorkflowId, EventId]; gives: Event };
  runsOfDelivery: { by: [WorkflowId, DeliveryId]; gives: Run };
  runsOfSession: { by: [WorkflowId, SessionId]; gives: Run };
  sessionsOf: { by: [WorkflowId, ExecutionId]; gives: Session };
  messagesOf: { by: [WorkflowId, ExecutionId]; gives: Message };
  inputNamed: { by: [WorkflowId, InputId]; gives: Input };
  causedBy: { by: [WorkflowId, InputId]; gives: EventInput };
  allowancesOf: { by: [WorkflowId]; gives: Allowance };
}

export type LookupName = keyof Lookups;

/** One lookup with what it is asked about. */
export type Question = { [N in LookupName]: { readonly name: N; readonly by: Lookups[N]['by'] } }[LookupName];

/** Answers lookups on the connection that will write. Rows it hands out are never changed, only replaced. */
export interface Source {
  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][];
}
