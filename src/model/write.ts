import type {
  DeliveryId,
  EventId,
  ExecutionId,
  InputId,
  MessageId,
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
  Enforcement,
  Event,
  Evidence,
  Execution,
  HandlerState,
  Input,
  KeptApproval,
  MaintenanceTask,
  Message,
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
import type { Lack, Limit, Slot, Worker } from './rows-of-fleet.ts';
import type { Allowance, Grant, Notice, PermissionRequest, Secret, Token } from './rows-of-people.ts';
import type {
  ConsumerPhase,
  EventStatus,
  ExecutionEnd,
  ExecutionStatus,
  Hold,
  MutationOutcome,
  MutationStatus,
  NoticeStatus,
  PermissionAnswer,
  Phase,
  Resolver,
  RunStatus,
  StopStatus,
  Trigger,
  WorkerStatus,
  WorkflowStatus,
} from './states.ts';

/**
 * Everything that can be written, one word a write. The union is closed: there is no `update(id, partial)`, so a change that
 * has no name here cannot be made. Each names the state it expects; a row that is in another state fails the whole command.
 */
export type Write =
  | WorkflowWrite
  | ExecutionWrite
  | SessionWrite
  | RunWrite
  | EventWrite
  | MutationWrite
  | OtherWrite
  | PeopleWrite
  | HistoryWrite;

type WorkflowWrite =
  | { set: 'workflow.created'; row: Workflow }
  | { set: 'workflow.script'; workflow: WorkflowId; from: ScriptId | null; to: ScriptId }
  | {
      set: 'workflow.standing';
      workflow: WorkflowId;
      from: WorkflowStatus;
      to: WorkflowStatus;
      holds: readonly Hold[];
      errorReason: string | null;
      heldConnections: readonly string[];
      grantMissing: boolean;
    }
  | { set: 'workflow.maintenance'; workflow: WorkflowId; from: RunId | null; to: RunId | null }
  | { set: 'workflow.retry'; workflow: WorkflowId; from: RunId | null; to: RunId | null }
  | { set: 'workflow.seq'; workflow: WorkflowId; from: number; to: number }
  | { set: 'workflow.quiet'; workflow: WorkflowId; quiet: boolean }
  | { set: 'workflow.due'; workflow: WorkflowId; at: number | null }
  | { set: 'script.added'; row: Script; code: string; manifest: string };

type ExecutionWrite =
  | { set: 'enforcement.created'; row: Enforcement }
  | { set: 'execution.requested'; row: Execution }
  | { set: 'execution.folded'; execution: ExecutionId; from: Trigger; to: Trigger }
  | { set: 'execution.waits'; execution: ExecutionId; for: string }
  | { set: 'execution.scheduling'; execution: ExecutionId; until: number; slots: readonly string[] }
  | { set: 'execution.returned'; execution: ExecutionId }
  | { set: 'execution.scheduled'; execution: ExecutionId; epoch: number }
  | { set: 'execution.running'; execution: ExecutionId; epoch: number; owner: WorkerId; at: number }
  | { set: 'execution.fenced'; execution: ExecutionId; from: number; to: number }
  | {
      set: 'execution.ended';
      execution: ExecutionId;
      from: ExecutionStatus;
      to: ExecutionEnd;
      at: number;
      /** The limit that its session was past, for whoever tells of it: the row keeps the word alone. */
      timeoutMs?: number | undefined;
    }
  | { set: 'execution.cancelRequested'; execution: ExecutionId; at: number; by: string }
  /** Set, or set again to another number. */
  | { set: 'limit.set'; row: Limit }
  | { set: 'slot.taken'; row: Slot }
  | { set: 'slot.freed'; execution: ExecutionId; limit: string }
  | { set: 'message.sent'; row: Message }
  | { set: 'message.deleted'; message: MessageId };

type SessionWrite =
  | { set: 'session.created'; row: Session }
  | { set: 'session.counted'; session: SessionId; cost: number }
  | { set: 'session.failed'; session: SessionId; error: string; cost: number; at: number }
  | { set: 'session.completed'; session: SessionId; at: number };

type RunWrite =
  | { set: 'run.created'; row: Run }
  | { set: 'run.prepared'; run: RunId; prepareResult: string | null }
  | { set: 'run.phase'; run: RunId; from: ConsumerPhase; to: ConsumerPhase }
  /** The call was applied: the outcome and the step it allows. */
  | { set: 'run.mutated'; run: RunId }
  | { set: 'run.outcome'; run: RunId; outcome: MutationOutcome }
  | {
      set: 'run.stopped';
      run: RunId;
      status: StopStatus;
      error: string;
      errorType: string | null;
      suspects: readonly EventId[];
      cost: number;
      at: number;
    }
  | { set: 'run.committed'; run: RunId; from: Phase; outputState: string | null; cost: number; at: number }
  | { set: 'run.logged'; row: RunLog }
  | { set: 'run.read'; row: RunRead }
  /** An operator's: a stopped run, phase and status together. */
  | { set: 'run.finished'; run: RunId; from: Phase; status: RunStatus; at: number };

type EventWrite =
  | { set: 'event.published'; row: Event }
  | { set: 'event.changed'; event: EventId; payload: string; title: string | null; pendingSeq: number }
  | { set: 'events.reserved'; run: RunId; events: readonly EventId[] }
  | { set: 'events.released'; run: RunId; count: number; pendingSeq: number }
  | { set: 'events.consumed'; run: RunId; count: number }
  | { set: 'events.skipped'; run: RunId; count: number }
  | { set: 'events.parked'; run: RunId; count: number }
  | { set: 'events.transferred'; from: RunId; to: RunId; count: number }
  | { set: 'event.skipped'; event: EventId; from: EventStatus }
  | { set: 'event.parked'; event: EventId }
  /** Every pending event of a topic that a new version no longer has. */
  | { set: 'topic.skipped'; workflow: WorkflowId; topic: string }
  | { set: 'event.unparked'; event: EventId; pendingSeq: number }
  | { set: 'event.caused'; event: EventId; inputs: readonly InputId[] }
  | { set: 'input.registered'; row: Input };

type MutationWrite =
  | { set: 'mutation.recorded'; row: Mutation }
  | { set: 'mutation.sent'; mutation: MutationId; deadline: number }
  | {
      set: 'mutation.applied';
      mutation: MutationId;
      from: MutationStatus;
      result: string | null;
      resolvedBy: Resolver;
      resolvedByName: string | null;
      callEndedAt: number | null;
      at: number;
    }
  | {
      set: 'mutation.failed';
      mutation: MutationId;
      from: MutationStatus;
      error: string;
      resolvedBy: Resolver;
      resolvedByName: string | null;
      callEndedAt: number | null;
      at: number;
    }
  | {
      set: 'mutation.unknown';
      mutation: MutationId;
      from: MutationStatus;
      to: 'needs_reconcile' | 'indeterminate';
      error: string | null;
      callEndedAt: number | null;
      reconcileAt: number | null;
      reconcileCount: number;
    }
  | { set: 'mutation.approved'; mutation: MutationId; at: number; by: string }
  | { set: 'mutation.setAside'; mutation: MutationId; from: number | null; to: number | null }
  | { set: 'mutation.reconcileClaimed'; mutation: MutationId; owner: WorkerId; until: number }
  | { set: 'mutation.reconcilePostponed'; mutation: MutationId; at: number; count: number }
  | { set: 'evidence.recorded'; row: Evidence };

type OtherWrite =
  | { set: 'handler.kept'; row: HandlerState }
  | { set: 'delivery.accepted'; row: Delivery }
  | { set: 'delivery.done'; delivery: DeliveryId; run: RunId }
  | { set: 'task.opened'; row: MaintenanceTask }
  | { set: 'task.closed'; task: TaskId; at: number; by: string }
  | { set: 'worker.registered'; row: Worker }
  | { set: 'worker.status'; worker: WorkerId; from: WorkerStatus; to: WorkerStatus }
  | { set: 'worker.renewed'; worker: WorkerId; leaseUntil: number }
  | { set: 'worker.lacks'; worker: WorkerId; lacks: readonly Lack[] }
  | { set: 'worker.ended'; worker: WorkerId; at: number }
  | { set: 'connection.created'; row: Connection }
  | {
      set: 'connection.changed';
      name: string;
      from: number;
      to: number;
      refusedAt: number | null;
      refusedReason: string | null;
    }
  | { set: 'audit.appended'; at: number; actor: string; act: string; subject: string; detail: string };

type PeopleWrite =
  | { set: 'token.created'; row: Token }
  | { set: 'token.revoked'; token: TokenId; at: number; by: string }
  | { set: 'secret.created'; row: Secret }
  | { set: 'secret.changed'; name: string; from: number; box: string | null; at: number; by: string }
  /** Given, or given again with other bounds. */
  | { set: 'grant.given'; row: Grant }
  | { set: 'grant.taken'; workflow: WorkflowId; connection: string; method: string }
  | { set: 'allowance.given'; row: Allowance }
  | { set: 'permission.asked'; row: PermissionRequest }
  | {
      set: 'permission.answered';
      request: PermissionRequestId;
      answer: Exclude<PermissionAnswer, ''>;
      at: number;
      by: string;
    }
  | { set: 'notice.opened'; row: Notice }
  | {
      set: 'notice.tried';
      notice: NoticeId;
      from: number;
      tries: number;
      to: NoticeStatus;
      dueAt: number;
      error: string | null;
      settledAt: number | null;
    };

/** History that nothing needs any more goes, many rows at a time; what the same message is known by stays. */
type HistoryWrite =
  | { set: 'approval.kept'; row: KeptApproval }
  | { set: 'logs.removed'; runs: readonly RunId[] }
  | { set: 'reads.removed'; runs: readonly RunId[] }
  | { set: 'evidence.removed'; mutations: readonly MutationId[] }
  | { set: 'mutations.removed'; mutations: readonly MutationId[] }
  | { set: 'events.remembered'; events: readonly EventId[] }
  | { set: 'causes.removed'; events: readonly EventId[] }
  | { set: 'events.removed'; events: readonly EventId[] }
  | { set: 'tasks.removed'; runs: readonly RunId[] }
  | { set: 'runs.undelivered'; runs: readonly RunId[] }
  | { set: 'deliveries.remembered'; deliveries: readonly DeliveryId[] }
  | { set: 'deliveries.removed'; deliveries: readonly DeliveryId[] }
  | { set: 'runs.removed'; runs: readonly RunId[] }
  | { set: 'session.uncounted'; session: SessionId; count: number }
  | { set: 'sessions.removed'; sessions: readonly SessionId[] }
  | { set: 'enforcements.removed'; executions: readonly ExecutionId[] }
  | { set: 'executions.removed'; executions: readonly ExecutionId[] }
  | { set: 'inputs.removed'; inputs: readonly InputId[] }
  /** Of another engine: what it remembered. */
  | { set: 'event.known'; row: PrunedEvent }
  | { set: 'delivery.known'; row: PrunedDelivery };

export type WriteName = Write['set'];
export type WriteOf<N extends WriteName> = Extract<Write, { set: N }>;
