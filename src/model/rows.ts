import type {
  DeliveryId,
  EnforcementId,
  EventId,
  EvidenceId,
  ExecutionId,
  InputId,
  MessageId,
  MutationId,
  RunId,
  ScriptId,
  SessionId,
  TaskId,
  WorkerId,
  WorkflowId,
} from '#base';
import type {
  ConsumerPhase,
  DeliveryStatus,
  EventStatus,
  ExecutionStatus,
  Hold,
  MessageType,
  MutationOutcome,
  MutationStatus,
  ProducerPhase,
  Resolver,
  RunStatus,
  SessionResult,
  TaskKind,
  TaskStatus,
  Trigger,
  WorkflowStatus,
} from './states.ts';

/** Rows as the model sees them. JSON stays text: the model never looks inside what a script or a provider said. */

export interface ProducerSpec {
  readonly name: string;
  readonly publishes: readonly string[];
  readonly webhook: boolean;
}

export interface ConsumerSpec {
  readonly name: string;
  readonly subscribe: readonly string[];
  readonly publishes: readonly string[];
  readonly hasMutate: boolean;
  readonly hasNext: boolean;
}

/** What a version declares; fixed for the life of the version. */
export interface Handlers {
  readonly topics: readonly string[];
  readonly producers: readonly ProducerSpec[];
  readonly consumers: readonly ConsumerSpec[];
}

export interface Workflow {
  readonly id: WorkflowId;
  readonly name: string;
  readonly status: WorkflowStatus;
  /** In the order of HOLDS, without repeats. */
  readonly holds: readonly Hold[];
  /** Why hold `error` stands, in words. */
  readonly errorReason: string | null;
  /** The refused connections behind hold `connection`. */
  readonly heldConnections: readonly string[];
  readonly grantMissing: boolean;
  readonly maintenance: boolean;
  readonly maintenanceRunId: RunId | null;
  readonly pendingRetryRunId: RunId | null;
  /** Rises with every transaction that makes an event pending: the clock that resting consumers listen to. */
  readonly eventSeq: number;
  /** After a cancel: no follow-up until the next trigger. */
  readonly quiet: boolean;
  /** When the scheduler must next look; null while nothing is due or an execution is under way. */
  readonly dueAt: number | null;
  readonly activeScriptId: ScriptId | null;
  readonly createdAt: number;
}

export interface Script {
  readonly id: ScriptId;
  readonly workflowId: WorkflowId;
  readonly major: number;
  readonly minor: number;
  readonly contentHash: string;
  readonly handlers: Handlers;
  readonly createdAt: number;
  readonly createdBy: string;
}

export interface Enforcement {
  readonly id: EnforcementId;
  readonly workflowId: WorkflowId;
  readonly executionId: ExecutionId;
  readonly trigger: Trigger;
  readonly createdAt: number;
}

export interface Execution {
  readonly id: ExecutionId;
  readonly workflowId: WorkflowId;
  readonly status: ExecutionStatus;
  readonly trigger: Trigger;
  /** Raised at the handoff and by the reaper: a worker that holds an older one is fenced off. */
  readonly epoch: number;
  readonly owner: WorkerId | null;
  readonly cancelRequestedAt: number | null;
  readonly cancelRequestedBy: string | null;
  readonly schedulingUntil: number | null;
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The limit that had no room when it was to be scheduled; null where it does not wait for one. */
  readonly waitsFor: string | null;
  /** The limits it has a place under, from its handoff to its end. */
  readonly slots: readonly string[];
}

export interface Session {
  readonly id: SessionId;
  readonly executionId: ExecutionId;
  readonly scriptId: ScriptId;
  readonly workflowId: WorkflowId;
  readonly trigger: Trigger;
  readonly result: SessionResult;
  readonly error: string | null;
  readonly cost: number;
  readonly handlerRunCount: number;
  readonly startTimestamp: number;
  readonly endTimestamp: number | null;
}

interface RunCommon {
  readonly id: RunId;
  readonly scriptRunId: SessionId;
  readonly scriptId: ScriptId;
  readonly workflowId: WorkflowId;
  readonly rootRunId: RunId;
  readonly retryOf: RunId | null;
  /** Place in its chain, from 0. */
  readonly attempt: number;
  readonly handlerName: string;
  readonly status: RunStatus;
  readonly mutationOutcome: MutationOutcome;
  readonly outputState: string | null;
  readonly error: string | null;
  readonly errorType: string | null;
  /** Ids of the events a failed script had in its hands; what a repair looks at. */
  readonly suspects: readonly EventId[];
  readonly cost: number;
  /** The workflow's eventSeq when the run began. */
  readonly startSeq: number;
  readonly startTimestamp: number;
  readonly endTimestamp: number | null;
}

export type ProducerRun = RunCommon & {
  readonly handlerType: 'producer';
  readonly phase: ProducerPhase;
  readonly prepareResult: null;
  readonly deliveryId: DeliveryId | null;
};

/** `prepareResult` is null before `prepared`, and after it when the script was idle: then `next` does not run. */
export type ConsumerRun = RunCommon & {
  readonly handlerType: 'consumer';
  readonly phase: ConsumerPhase;
  readonly prepareResult: string | null;
  readonly deliveryId: null;
};

export type Run = ProducerRun | ConsumerRun;

export interface Event {
  readonly id: EventId;
  readonly workflowId: WorkflowId;
  readonly topic: string;
  readonly messageId: string;
  readonly payload: string;
  readonly title: string | null;
  readonly status: EventStatus;
  readonly reservedByRunId: RunId | null;
  readonly redoOf: EventId | null;
  /** The workflow's eventSeq when this event last became pending. */
  readonly pendingSeq: number;
  readonly publishedByRunId: RunId | null;
  readonly createdAt: number;
}

export interface Mutation {
  readonly id: MutationId;
  readonly handlerRunId: RunId;
  readonly rootRunId: RunId;
  readonly scriptId: ScriptId;
  readonly workflowId: WorkflowId;
  readonly status: MutationStatus;
  readonly connection: string;
  readonly method: string;
  /** The exact call, as it is or would be sent. */
  readonly params: string;
  /** Hash of workflow, consumer, reserved events and exact call. */
  readonly effectHash: string;
  /** The events the call is made for, oldest first. */
  readonly eventIds: readonly EventId[];
  /** The oldest of them: finds other rows of the same effect. */
  readonly firstEventId: EventId;
  readonly idempotencyKey: string;
  readonly uiTitle: string | null;
  readonly preview: string;
  readonly result: string | null;
  readonly error: string | null;
  readonly canReconcile: boolean;
  readonly visibilityMs: number;
  readonly callTimeoutMs: number;
  readonly callDeadline: number | null;
  readonly callEndedAt: number | null;
  readonly approvedAt: number | null;
  readonly approvedBy: string | null;
  readonly approvalExpiresAt: number | null;
  readonly reconcileAt: number | null;
  readonly reconcileOwner: WorkerId | null;
  readonly reconcileUntil: number | null;
  readonly reconcileCount: number;
  readonly setAsideAt: number | null;
  readonly resolvedBy: Resolver | null;
  readonly resolvedByName: string | null;
  readonly resolvedAt: number | null;
  readonly createdAt: number;
}

/** What the engine keeps for a handler between its runs. */
export interface HandlerState {
  readonly workflowId: WorkflowId;
  readonly handlerName: string;
  readonly state: string | null;
  /** When a scheduled producer is next due. */
  readonly nextAt: number | null;
  readonly wakeAt: number | null;
  /** Set while a consumer rests: the eventSeq at the start of its empty run. */
  readonly restedSeq: number | null;
  readonly backoffUntil: number | null;
  readonly transientSince: number | null;
  readonly transientCount: number;
  /** True from the end of a repair until the next commit or failure of this handler. */
  readonly repaired: boolean;
  readonly failedRepairs: number;
  readonly crashCount: number;
  readonly crashEventId: EventId | null;
}

export interface Input {
  readonly id: InputId;
  readonly workflowId: WorkflowId;
  readonly source: string;
  readonly type: string;
  readonly externalId: string;
  readonly title: string;
  readonly createdAt: number;
}

export interface EventInput {
  readonly eventId: EventId;
  readonly inputId: InputId;
}

export interface Delivery {
  readonly id: DeliveryId;
  readonly workflowId: WorkflowId;
  readonly handlerName: string;
  /** The sender's own id of this delivery. */
  readonly deliveryId: string;
  readonly headers: string;
  readonly body: string;
  readonly status: DeliveryStatus;
  readonly runId: RunId | null;
  readonly receivedAt: number;
}

export interface Message {
  readonly id: MessageId;
  readonly type: MessageType;
  readonly executionId: ExecutionId;
  readonly workflowId: WorkflowId;
  readonly epoch: number;
  readonly version: number;
  readonly createdAt: number;
}

export interface MaintenanceTask {
  readonly id: TaskId;
  readonly workflowId: WorkflowId;
  /** The run a repair is about, or the run whose answered call the evidence contradicts. */
  readonly runId: RunId;
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  readonly detail: string;
  readonly createdAt: number;
  readonly closedAt: number | null;
  readonly closedBy: string | null;
}

export interface Evidence {
  readonly id: EvidenceId;
  readonly mutationId: MutationId;
  readonly says: 'applied' | 'failed' | 'uncertain';
  readonly detail: string;
  readonly source: string;
  readonly createdAt: number;
}

/** What the engine knows of a connection; its settings and secrets live elsewhere. */
export interface Connection {
  readonly name: string;
  /** Raised with every new secret or good test, so that a late refusal of an old secret cannot hold anyone. */
  readonly version: number;
  readonly refusedAt: number | null;
  readonly refusedReason: string | null;
}

/** What a script said in passing. */
export interface RunLog {
  readonly runId: RunId;
  readonly position: number;
  readonly at: number;
  readonly message: string;
  readonly data: string | null;
}

/** What a script read from outside, as far as it is kept: a rehearsal answers from it. */
export interface RunRead {
  readonly runId: RunId;
  readonly position: number;
  readonly at: number;
  readonly connection: string;
  readonly method: string;
  readonly request: string;
  readonly answer: string;
}

export interface AuditEntry {
  readonly seq: number;
  readonly at: number;
  readonly actor: string;
  readonly act: string;
  readonly subject: string;
  readonly detail: string;
  readonly previousHash: string;
  readonly hash: string;
}

/** What is left of an event whose history was removed: enough to know the same message again. */
export interface PrunedEvent {
  readonly workflowId: WorkflowId;
  readonly topic: string;
  readonly messageId: string;
  readonly id: EventId;
  readonly status: EventStatus;
  readonly createdAt: number;
}

/** What is left of a delivery: enough to know the same one again. */
export interface PrunedDelivery {
  readonly workflowId: WorkflowId;
  readonly handlerName: string;
  readonly deliveryId: string;
  readonly id: DeliveryId;
  readonly receivedAt: number;
}

/** That a person approved this method once, where the call they approved is history that was removed. */
export interface KeptApproval {
  readonly workflowId: WorkflowId;
  readonly connection: string;
  readonly method: string;
  readonly approvedAt: number;
  readonly approvedBy: string;
}
