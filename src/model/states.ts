/**
 * Every state set and every legal step, once. Types, decide functions, SQL guards, the diagrams in docs/ and the
 * exhaustive tests all read these tables; none of them repeats a list.
 */

export const CONSUMER_PHASE_STEPS = {
  preparing: ['prepared'],
  prepared: ['mutating', 'emitting'], // straight to emitting only when nothing was reserved
  mutating: ['mutated'],
  mutated: ['emitting'],
  emitting: ['committed'],
  committed: [],
} as const;

export const PRODUCER_PHASE_STEPS = {
  executing: ['committed'],
  committed: [],
} as const;

/** A stopped run is committed only by an operator: skip of a consumer without `next`, or finish without next. */
export const RUN_STATUS_STEPS = {
  active: [
    'paused:transient',
    'paused:approval',
    'paused:reconciliation',
    'failed:logic',
    'failed:internal',
    'crashed',
    'cancelled',
    'committed',
  ],
  'paused:transient': ['committed'],
  'paused:approval': ['committed'],
  'paused:reconciliation': ['committed'],
  'failed:logic': ['committed'],
  'failed:internal': ['committed'],
  crashed: ['committed'],
  cancelled: ['committed'],
  committed: [],
} as const;

export const EVENT_STEPS = {
  pending: ['reserved', 'parked', 'skipped'],
  reserved: ['pending', 'consumed', 'skipped', 'parked'],
  parked: ['pending', 'skipped'],
  consumed: [],
  skipped: [],
} as const;

/** `pending` means recorded and waiting for approval. `applied` and `failed` are final. */
export const MUTATION_STEPS = {
  pending: ['in_flight', 'failed'],
  in_flight: ['applied', 'failed', 'needs_reconcile', 'indeterminate'],
  needs_reconcile: ['applied', 'failed', 'indeterminate'],
  indeterminate: ['applied', 'failed', 'needs_reconcile'],
  applied: [],
  failed: [],
} as const;

export const EXECUTION_STEPS = {
  requested: ['scheduling', 'cancelled', 'failed'],
  scheduling: ['requested', 'scheduled', 'cancelled', 'failed'],
  scheduled: ['running', 'cancelled', 'timeout', 'abandoned'],
  running: ['completed', 'failed', 'cancelled', 'timeout', 'abandoned'],
  completed: [],
  failed: [],
  cancelled: [],
  timeout: [],
  abandoned: [],
} as const;

export const WORKFLOW_STATUS_STEPS = {
  draft: ['ready', 'archived'],
  ready: ['active', 'error', 'archived'], // straight to error when the first version waits for a grant
  active: ['paused', 'error', 'archived'],
  paused: ['active', 'error', 'archived'],
  error: ['active', 'paused', 'archived'],
  archived: [],
} as const;

export const DELIVERY_STEPS = { pending: ['done'], done: [] } as const;
/** What a worker takes: `cordoned` nothing new until it is opened again, `draining` nothing new ever: it ends when it has finished. */
export const WORKER_STEPS = {
  open: ['cordoned', 'draining'],
  cordoned: ['open', 'draining'],
  draining: [],
} as const;
export const TASK_STEPS = { open: ['closed'], closed: [] } as const;

export type ConsumerPhase = keyof typeof CONSUMER_PHASE_STEPS;
export type ProducerPhase = keyof typeof PRODUCER_PHASE_STEPS;
export type Phase = ConsumerPhase | ProducerPhase;
export type RunStatus = keyof typeof RUN_STATUS_STEPS;
export type StopStatus = Exclude<RunStatus, 'active' | 'committed'>;
export type EventStatus = keyof typeof EVENT_STEPS;
export type MutationStatus = keyof typeof MUTATION_STEPS;
export type ExecutionStatus = keyof typeof EXECUTION_STEPS;
export type WorkflowStatus = keyof typeof WORKFLOW_STATUS_STEPS;
export type DeliveryStatus = keyof typeof DELIVERY_STEPS;
export type WorkerStatus = keyof typeof WORKER_STEPS;
export type TaskStatus = keyof typeof TASK_STEPS;

/** The worker that claimed an execution may write these ends; `abandoned` is the reaper's. */
export type ExecutionEnd = Exclude<ExecutionStatus, 'requested' | 'scheduling' | 'scheduled' | 'running'>;

export const EXECUTION_ENDS = [
  'completed',
  'failed',
  'cancelled',
  'timeout',
  'abandoned',
] as const satisfies ExecutionEnd[];

export const STOP_STATUSES = RUN_STATUS_STEPS.active.filter((status) => status !== 'committed');

export const MUTATION_OUTCOMES = ['', 'success', 'failure', 'skipped'] as const;
export type MutationOutcome = (typeof MUTATION_OUTCOMES)[number];

export const SESSION_RESULTS = ['', 'completed', 'failed'] as const;
export type SessionResult = (typeof SESSION_RESULTS)[number];

/** In the order they are written. */
export const HOLDS = ['user', 'unknown', 'approval', 'connection', 'error'] as const;
export type Hold = (typeof HOLDS)[number];

/** Weakest first: a trigger that meets a waiting request is folded into it, and the stronger word stays. */
export const TRIGGERS = ['wake', 'retry', 'event', 'schedule', 'webhook', 'manual'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Who said how a call ended. `provider` is the service itself, in answer to the call or refusing it. */
export const RESOLVERS = [
  'provider',
  'reconcile',
  'user_assert_applied',
  'user_assert_failed',
  'user_skip',
  'user_reject',
  'expired',
] as const;
export type Resolver = (typeof RESOLVERS)[number];

/** The type of the error of a run that asked for a connection which is not in the config. */
export const NO_CONNECTION = 'no-connection';

export const HANDLER_TYPES = ['producer', 'consumer'] as const;
export type HandlerType = (typeof HANDLER_TYPES)[number];

export const TASK_KINDS = ['repair', 'evidence'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** What a token may do: look; answer and act; write scripts; everything, tokens and secrets too. */
export const TOKEN_SCOPES = ['read', 'operate', 'edit', 'admin'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

export const TOKEN_KINDS = ['token', 'session'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** What became of a version that asks for more; empty while it waits. */
export const PERMISSION_ANSWERS = ['', 'allowed', 'refused', 'replaced'] as const;
export type PermissionAnswer = (typeof PERMISSION_ANSWERS)[number];

export const NOTICE_STEPS = { due: ['due', 'sent', 'given_up'], sent: [], given_up: [] } as const;
export type NoticeStatus = keyof typeof NOTICE_STEPS;

/** Ledger rows whose outcome nobody knows yet. */
export const UNKNOWN_LEDGER = ['in_flight', 'needs_reconcile', 'indeterminate'] as const satisfies MutationStatus[];
export const UNRESOLVED_LEDGER = ['pending', ...UNKNOWN_LEDGER] as const satisfies MutationStatus[];

/** An execution that holds its workflow: nothing else of that workflow may be scheduled. */
export const BUSY_EXECUTION = ['scheduling', 'scheduled', 'running'] as const satisfies ExecutionStatus[];
/** Statuses a live workflow can have; they follow from its holds. */
export const LIVE_WORKFLOW = ['active', 'paused', 'error'] as const satisfies WorkflowStatus[];

export const MESSAGE_TYPES = [
  'enforcement.created',
  'execution.requested',
  'execution.scheduled',
  'execution.status_changed',
  'execution.completed',
] as const;
/** What a message of today says. One that says more was sent by a newer process, and waits for somebody who understands it. */
export const MESSAGE_VERSION = 1;
export type MessageType = (typeof MESSAGE_TYPES)[number];

type Steps<S extends string> = Readonly<Record<S, readonly S[]>>;

export function isStep<S extends string>(steps: Steps<S>, from: S, to: S): boolean {
  return steps[from].includes(to);
}

export function isLiveStatus(status: WorkflowStatus): boolean {
  return (LIVE_WORKFLOW as readonly WorkflowStatus[]).includes(status);
}
