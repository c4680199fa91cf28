import type {
  AllowanceId,
  DeliveryId,
  EnforcementId,
  EventId,
  EvidenceId,
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
  Allowance,
  ConsumerRun,
  Delivery,
  Enforcement,
  Event,
  Evidence,
  Execution,
  Grant,
  HandlerState,
  Input,
  MaintenanceTask,
  Message,
  Mutation,
  Notice,
  PermissionRequest,
  ProducerRun,
  Script,
  Secret,
  Session,
  Token,
  Worker,
  Workflow,
} from '#model';

/** Rows of a small world, each complete, with the field a test is about put in over it. */

export const AT = 1_700_000_000_000;
export const WF = 'wf_1' as WorkflowId;
export const SCRIPT = 'scr_1' as ScriptId;
export const EXE = 'exe_1' as ExecutionId;
export const SES = 'ses_1' as SessionId;
export const RUN = 'run_1' as RunId;
export const MUT = 'mut_1' as MutationId;
export const WORKER = 'wrk_1' as WorkerId;
export const evt = (n: number | string): EventId => `evt_${n}` as EventId;
export const run = (n: number | string): RunId => `run_${n}` as RunId;

export const workflow = (over: Partial<Workflow> = {}): Workflow => ({
  id: WF,
  name: 'orders',
  status: 'active',
  holds: [],
  errorReason: null,
  heldConnections: [],
  grantMissing: false,
  maintenance: false,
  maintenanceRunId: null,
  pendingRetryRunId: null,
  eventSeq: 0,
  quiet: false,
  dueAt: null,
  activeScriptId: null,
  createdAt: AT,
  ...over,
});

export const script = (over: Partial<Script> = {}): Script => ({
  id: SCRIPT,
  workflowId: WF,
  major: 1,
  minor: 0,
  contentHash: 'hash',
  handlers: {
    topics: ['placed', 'booked'],
    producers: [{ name: 'poll', publishes: ['placed'], webhook: false }],
    consumers: [{ name: 'book', subscribe: ['placed'], publishes: ['booked'], hasMutate: true, hasNext: true }],
  },
  createdAt: AT,
  createdBy: 'ada',
  ...over,
});

export const worker = (over: Partial<Worker> = {}): Worker => ({
  id: WORKER,
  name: 'pawl',
  pool: 'default',
  version: null,
  concurrency: null,
  status: 'open',
  lacks: [],
  leaseUntil: AT + 45_000,
  startedAt: AT,
  endedAt: null,
  ...over,
});

export const execution = (over: Partial<Execution> = {}): Execution => ({
  id: EXE,
  workflowId: WF,
  status: 'requested',
  trigger: 'event',
  epoch: 0,
  owner: null,
  cancelRequestedAt: null,
  cancelRequestedBy: null,
  schedulingUntil: null,
  requestedAt: AT,
  startedAt: null,
  endedAt: null,
  waitsFor: null,
  slots: [],
  ...over,
});

export const enforcement = (over: Partial<Enforcement> = {}): Enforcement => ({
  id: 'enf_1' as EnforcementId,
  workflowId: WF,
  executionId: EXE,
  trigger: 'event',
  createdAt: AT,
  ...over,
});

export const session = (over: Partial<Session> = {}): Session => ({
  id: SES,
  executionId: EXE,
  scriptId: SCRIPT,
  workflowId: WF,
  trigger: 'event',
  result: '',
  error: null,
  cost: 0,
  handlerRunCount: 0,
  startTimestamp: AT,
  endTimestamp: null,
  ...over,
});

const begun = {
  id: RUN,
  scriptRunId: SES,
  scriptId: SCRIPT,
  workflowId: WF,
  rootRunId: RUN,
  retryOf: null,
  attempt: 0,
  status: 'active',
  mutationOutcome: '',
  outputState: null,
  error: null,
  errorType: null,
  suspects: [],
  cost: 0,
  startSeq: 0,
  startTimestamp: AT,
  endTimestamp: null,
} as const;

export const consumerRun = (over: Partial<ConsumerRun> = {}): ConsumerRun => ({
  ...begun,
  handlerType: 'consumer',
  handlerName: 'book',
  phase: 'preparing',
  prepareResult: null,
  deliveryId: null,
  ...over,
});

export const producerRun = (over: Partial<ProducerRun> = {}): ProducerRun => ({
  ...begun,
  handlerType: 'producer',
  handlerName: 'poll',
  phase: 'executing',
  prepareResult: null,
  deliveryId: null,
  ...over,
});

export const event = (over: Partial<Event> = {}): Event => ({
  id: evt(1),
  workflowId: WF,
  topic: 'placed',
  messageId: over.id ?? evt(1),
  payload: '{"order":1}',
  title: null,
  status: 'pending',
  reservedByRunId: null,
  redoOf: null,
  pendingSeq: 1,
  publishedByRunId: null,
  createdAt: AT,
  ...over,
});

export const mutation = (over: Partial<Mutation> = {}): Mutation => ({
  id: MUT,
  handlerRunId: RUN,
  rootRunId: RUN,
  scriptId: SCRIPT,
  workflowId: WF,
  status: 'in_flight',
  connection: 'shop',
  method: 'post',
  params: '{"path":"/bookings"}',
  effectHash: 'effect',
  eventIds: [evt(1)],
  firstEventId: evt(1),
  idempotencyKey: 'key',
  uiTitle: 'Book order 1',
  preview: 'POST /bookings',
  result: null,
  error: null,
  canReconcile: true,
  visibilityMs: 30_000,
  callTimeoutMs: 5_000,
  callDeadline: AT + 5_000,
  callEndedAt: null,
  approvedAt: null,
  approvedBy: null,
  approvalExpiresAt: null,
  reconcileAt: null,
  reconcileOwner: null,
  reconcileUntil: null,
  reconcileCount: 0,
  setAsideAt: null,
  resolvedBy: null,
  resolvedByName: null,
  resolvedAt: null,
  createdAt: AT,
  ...over,
});

/** A call that waits for approval. */
export const awaiting = (over: Partial<Mutation> = {}): Mutation =>
  mutation({ status: 'pending', callDeadline: null, approvalExpiresAt: AT + 1_000, ...over });

/** A call nobody can tell about, to be looked up. */
export const unknown = (over: Partial<Mutation> = {}): Mutation =>
  mutation({ status: 'needs_reconcile', reconcileAt: AT, ...over });

export const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  id: 'evd_1' as EvidenceId,
  mutationId: MUT,
  says: 'applied',
  detail: '{}',
  source: 'late answer',
  createdAt: AT,
  ...over,
});

export const handlerState = (over: Partial<HandlerState> = {}): HandlerState => ({
  workflowId: WF,
  handlerName: 'book',
  state: '{"seen":1}',
  nextAt: null,
  wakeAt: null,
  restedSeq: 3,
  backoffUntil: null,
  transientSince: null,
  transientCount: 0,
  repaired: false,
  failedRepairs: 0,
  crashCount: 0,
  crashEventId: null,
  ...over,
});

export const input = (over: Partial<Input> = {}): Input => ({
  id: 'inp_1' as InputId,
  workflowId: WF,
  source: 'shop',
  type: 'order',
  externalId: over.id ?? '1',
  title: 'Order 1',
  createdAt: AT,
  ...over,
});

export const delivery = (over: Partial<Delivery> = {}): Delivery => ({
  id: 'dlv_1' as DeliveryId,
  workflowId: WF,
  handlerName: 'hook',
  deliveryId: over.id ?? 'their-1',
  headers: '{}',
  body: '{}',
  status: 'pending',
  runId: null,
  receivedAt: AT,
  ...over,
});

export const message = (over: Partial<Message> = {}): Message => ({
  id: 'msg_1' as MessageId,
  type: 'execution.requested',
  executionId: EXE,
  workflowId: WF,
  epoch: 0,
  version: 1,
  createdAt: AT,
  ...over,
});

export const task = (over: Partial<MaintenanceTask> = {}): MaintenanceTask => ({
  id: 'tsk_1' as TaskId,
  workflowId: WF,
  runId: RUN,
  kind: 'repair',
  status: 'open',
  detail: 'a script error',
  createdAt: AT,
  closedAt: null,
  closedBy: null,
  ...over,
});

export const TOKEN = 'tok_1' as TokenId;

export const token = (over: Partial<Token> = {}): Token => ({
  id: TOKEN,
  kind: 'token',
  name: 'ci',
  scopes: ['read', 'edit'],
  hash: 'f'.repeat(64),
  parentId: null,
  createdAt: AT,
  createdBy: 'ada',
  expiresAt: AT + 1_000,
  revokedAt: null,
  revokedBy: null,
  ...over,
});

export const secret = (over: Partial<Secret> = {}): Secret => ({
  name: 'shop',
  version: 1,
  box: 'sealed',
  changedAt: AT,
  changedBy: 'ada',
  ...over,
});

export const grant = (over: Partial<Grant> = {}): Grant => ({
  workflowId: WF,
  connection: 'shop',
  method: 'post',
  targets: ['/bookings*'],
  capPerHour: 100,
  allowedAt: AT,
  allowedBy: 'ada',
  ...over,
});

export const allowance = (over: Partial<Allowance> = {}): Allowance => ({
  id: 'alw_1' as AllowanceId,
  workflowId: WF,
  connection: 'shop',
  method: 'post',
  target: null,
  callsMax: 10,
  until: AT + 1_000,
  givenAt: AT,
  givenBy: 'ada',
  ...over,
});

export const request = (over: Partial<PermissionRequest> = {}): PermissionRequest => ({
  id: 'req_1' as PermissionRequestId,
  workflowId: WF,
  scriptId: SCRIPT,
  asks: '[]',
  askedAt: AT,
  askedBy: 'agent',
  answer: '',
  answeredAt: null,
  answeredBy: null,
  ...over,
});

export const notice = (over: Partial<Notice> = {}): Notice => ({
  id: 'ntc_1' as NoticeId,
  caseKey: 'unknown mut_1',
  channel: 'mail',
  status: 'due',
  tries: 0,
  dueAt: AT,
  error: null,
  createdAt: AT,
  settledAt: null,
  ...over,
});
