// Made by `npm run docs` from the routes of the engine: do not edit.

export type Acted = { readonly workflow: string; readonly name: string; readonly status?: WorkflowStatus; readonly sentence?: string; readonly execution?: string; readonly folded?: boolean; readonly cancelled?: boolean };

export type Alive = { readonly status: 'ok' };

export type Answered = { readonly output?: string; readonly workflow?: string; readonly status?: OutputStatus | WorkflowStatus; readonly words?: string; readonly run?: string; readonly reconcileAt?: number };

export type Ask = { readonly connection: string; readonly method: string; readonly kind: 'read' | 'change'; readonly targets: readonly string[]; readonly sentence: string };

export type AuditEntry = { readonly seq: number; readonly at: number; readonly actor: string; readonly act: string; readonly subject: string; readonly detail: string; readonly sentence: string; readonly previousHash: string; readonly hash: string };

export type AuditVerified = { readonly ok: boolean; readonly entries: number; readonly head: { readonly seq: number; readonly hash: string } | null; readonly broken: { readonly seq: number; readonly why: string } | null };

export type Backlog = { readonly workflow: string; readonly name: string; readonly pending: number; readonly oldestAt: number; readonly ageMs: number };

export type Bucket = { readonly at: number; readonly inputs: number; readonly outputs: number; readonly done: number; readonly failed: number; readonly waiting: number; readonly unknown: number };

export type Channel = { readonly name: string; readonly type: 'webhook' | 'email' | 'command'; readonly kinds: readonly string[] | null; readonly status: 'untried' | 'ok' | 'failing'; readonly error: string | null; readonly at: number | null; readonly waiting: number };

export type Chart = { readonly per: 'hour' | 'day'; readonly from: number; readonly to: number; readonly items: readonly Bucket[] };

export type Choice = { readonly id: string; readonly label: string; readonly does: string; readonly notBefore: number | null; readonly asks: 'result' | 'cover' | 'olderThan' | 'events' | null; readonly request: { readonly method: 'POST'; readonly path: string; readonly body: unknown } | null; readonly argv: readonly string[] | null };

export type Connection = { readonly name: string; readonly type: string; readonly status: 'ok' | 'refused'; readonly reason: string | null; readonly since: number | null; readonly workflows: readonly string[]; readonly reads: readonly string[]; readonly mutations: readonly string[]; readonly approval: Readonly<Record<string, 'never' | 'first' | 'always'>> };

export type ConnectionTested = { readonly connection: string; readonly ok?: boolean; readonly version?: number; readonly freed: readonly string[]; readonly sentence: string; readonly error?: { readonly class: string; readonly message: string; readonly retryAfterMs?: number } };

export type Delivery = { readonly id: string; readonly workflowId: string; readonly handlerName: string; readonly deliveryId: string; readonly headers: unknown; readonly body: unknown; readonly status: DeliveryStatus; readonly sentence: string; readonly runId: string | null; readonly receivedAt: number; readonly skippedAt: number | null; readonly skippedBy: string | null };

export type DeliveryStatus = 'pending' | 'running' | 'failed' | 'done' | 'skipped';

export type Deployed = { readonly workflow: string; readonly name: string; readonly script: string; readonly version: string; readonly isNew: boolean; readonly activated: boolean; readonly status: WorkflowStatus; readonly findings: readonly unknown[]; readonly inFlight: readonly string[]; readonly undo: readonly string[] | null; readonly asks: readonly Ask[]; readonly missing: readonly Ask[]; readonly request: string | null };

export type Diagnosis = { readonly ok: boolean; readonly items: readonly { readonly kind: 'invariant' | 'symptom'; readonly name: string; readonly says: string; readonly count: number; readonly offenders: readonly unknown[] }[]; readonly next: string | null; readonly counts: Readonly<Record<string, number>>; readonly held: readonly { readonly invariant: string; readonly workflow: string; readonly id: string }[]; readonly warnings: readonly { readonly about: string; readonly says: string }[] };

export type Event = { readonly id: string; readonly workflowId: string; readonly topic: string; readonly messageId: string; readonly payload: unknown; readonly title: string | null; readonly status: EventStatus; readonly reservedByRunId: string | null; readonly redoOf: string | null; readonly pendingSeq: number; readonly publishedByRunId: string | null; readonly createdAt: number };

export type EventStatus = 'pending' | 'reserved' | 'parked' | 'consumed' | 'skipped';

export type Evidence = { readonly id: string; readonly mutationId: string; readonly says: 'applied' | 'failed' | 'uncertain'; readonly detail: string; readonly source: string; readonly createdAt: number };

export type Execution = { readonly id: string; readonly workflowId: string; readonly status: 'requested' | 'scheduling' | 'scheduled' | 'running' | 'completed' | 'failed' | 'cancelled' | 'timeout' | 'abandoned'; readonly trigger: Trigger; readonly epoch: number; readonly owner: string | null; readonly cancelRequestedAt: number | null; readonly cancelRequestedBy: string | null; readonly schedulingUntil: number | null; readonly waitsFor: string | null; readonly slots: readonly string[]; readonly requestedAt: number; readonly startedAt: number | null; readonly endedAt: number | null };

export type ExecutionEnd = 'completed' | 'failed' | 'cancelled' | 'timeout' | 'abandoned';

export type Explained = { readonly kind: 'workflow' | 'run' | 'event' | 'input' | 'output' | 'delivery'; readonly id: string; readonly lines: readonly { readonly at: number | null; readonly text: string }[]; readonly story: readonly string[] };

export type Found = { readonly kind: 'workflow' | 'input' | 'output' | 'event' | 'run' | 'session' | 'version' | 'delivery' | 'connection'; readonly id: string; readonly title: string; readonly workflow: string; readonly status: string; readonly at: number | null };

export type Grant = { readonly connection: string; readonly method: string; readonly kind: 'read' | 'change'; readonly targets: readonly string[]; readonly sentence: string; readonly capPerHour: number | null; readonly allowedAt: number; readonly allowedBy: string; readonly used: boolean };

export type GrantOf = { readonly connection: string; readonly method: string; readonly kind: 'read' | 'change'; readonly targets: readonly string[]; readonly sentence: string; readonly capPerHour: number | null; readonly allowedAt: number; readonly allowedBy: string; readonly used: boolean; readonly workflow: string; readonly name: string };

export type Graph = { readonly workflow: string; readonly name: string; readonly version: string | null; readonly producers: readonly { readonly name: string; readonly publishes: readonly string[]; readonly webhook: boolean; readonly schedule: unknown; readonly nextAt: number | null; readonly wakeAt: number | null; readonly backoffUntil: number | null; readonly running: boolean; readonly broken: boolean }[]; readonly topics: readonly { readonly name: string; readonly pending: number; readonly reserved: number; readonly parked: number; readonly oldestAt: number | null }[]; readonly consumers: readonly { readonly name: string; readonly subscribe: readonly string[]; readonly publishes: readonly string[]; readonly hasMutate: boolean; readonly hasNext: boolean; readonly nextAt: number | null; readonly wakeAt: number | null; readonly backoffUntil: number | null; readonly running: boolean; readonly broken: boolean }[]; readonly connections: readonly { readonly name: string; readonly type: string; readonly status: 'ok' | 'refused' | 'missing' }[] };

export type HandlerState = { readonly handler: string; readonly workflowId: string; readonly state: unknown; readonly nextAt: number | null; readonly wakeAt: number | null; readonly restedSeq: number | null; readonly backoffUntil: number | null; readonly transientSince: number | null; readonly transientCount: number; readonly repaired: boolean; readonly failedRepairs: number; readonly crashCount: number; readonly crashEventId: string | null };

export type Health = { readonly ok: boolean; readonly version: string; readonly dataDir: string | null; readonly pid: number | null; readonly startedAt: number };

export type HistoryRows = { readonly runs: number; readonly events: number; readonly mutations: number; readonly deliveries: number; readonly sessions: number; readonly executions: number; readonly inputs: number };

export type Input = { readonly id: string; readonly workflow: string; readonly name: string; readonly source: string; readonly type: string; readonly externalId: string; readonly title: string; readonly createdAt: number; readonly state: 'done' | 'pending' | 'skipped' | 'waiting'; readonly sentence: string; readonly versions: readonly string[]; readonly events: { readonly pending: number; readonly reserved: number; readonly consumed: number; readonly skipped: number; readonly parked: number }; readonly outputs: readonly { readonly id: string; readonly title: string | null; readonly status: OutputStatus; readonly words: string }[] };

export type InputRow = { readonly id: string; readonly workflowId: string; readonly source: string; readonly type: string; readonly externalId: string; readonly title: string; readonly createdAt: number };

export type LogLine = { readonly runId: string; readonly position: number; readonly at: number; readonly message: string; readonly data: unknown; readonly handler: string };

export type LoggedIn = { readonly by: string; readonly kind: 'owner' | 'token' | 'session'; readonly scopes: readonly Scope[]; readonly token: string | null; readonly expiresAt: number | null; readonly csrf: string };

export type Me = { readonly by: string; readonly kind: 'owner' | 'token' | 'session'; readonly scopes: readonly Scope[]; readonly token: string | null; readonly expiresAt: number | null };

export type Need = { readonly kind: 'unknown' | 'approval' | 'connection' | 'repair' | 'error' | 'evidence' | 'permission'; readonly id: string; readonly workflow: string; readonly name: string; readonly sentence: string; readonly since: number | null; readonly evidence: readonly string[]; readonly next: readonly NextStep[]; readonly title: string | null; readonly call: { readonly id: string; readonly connection: string; readonly method: string; readonly preview: string; readonly params: unknown; readonly idempotencyKey: string; readonly status: OutputStatus; readonly setAside: boolean; readonly expiresAt: number | null } | null; readonly inputs: readonly InputRow[]; readonly events: readonly Event[]; readonly known: readonly string[]; readonly unknown: readonly string[]; readonly facts: readonly { readonly at: number; readonly source: string; readonly says: string }[]; readonly choices: readonly Choice[]; readonly result: ResultAsked | null; readonly workflows: readonly string[]; readonly handler: string | null; readonly version: string | null; readonly run: string | null; readonly delivery: string | null; readonly place: { readonly file: string; readonly line: number; readonly column: number; readonly lines: readonly { readonly number: number; readonly text: string }[] } | null; readonly link: string };

export type NeedsCount = { readonly total: number; readonly kinds: Readonly<Record<string, number>> };

export type NextStep = { readonly label: string; readonly argv?: readonly string[] };

export type Notice = { readonly id: string; readonly caseKey: string; readonly channel: string; readonly status: 'due' | 'sent' | 'given_up'; readonly tries: number; readonly dueAt: number; readonly error: string | null; readonly createdAt: number; readonly settledAt: number | null };

export type Output = { readonly id: string; readonly workflow: string; readonly name: string; readonly handler: string; readonly run: string; readonly version: string; readonly title: string | null; readonly connection: string; readonly method: string; readonly preview: string; readonly status: OutputStatus; readonly words: string; readonly setAside: boolean; readonly resolvedBy: 'provider' | 'reconcile' | 'user_assert_applied' | 'user_assert_failed' | 'user_skip' | 'user_reject' | 'expired' | null; readonly resolvedByName: string | null; readonly error: string | null; readonly events: readonly string[]; readonly inputs: readonly { readonly id: string; readonly source: string; readonly title: string }[]; readonly createdAt: number; readonly resolvedAt: number | null };

export type OutputStatus = 'pending' | 'in_flight' | 'needs_reconcile' | 'indeterminate' | 'applied' | 'failed';

export type Overview = { readonly now: number; readonly startedAt: number; readonly needs: NeedsCount; readonly workflows: Readonly<Record<string, number>>; readonly lastDay: Bucket; readonly backlog: { readonly pending: number; readonly oldestAt: number | null; readonly workflows: number }; readonly health: { readonly recoveredRuns: number; readonly violations: number; readonly refusedConnections: readonly string[] } };

export type PermissionAnswered = { readonly request: string; readonly workflow: string; readonly version: string; readonly status: WorkflowStatus; readonly activated: boolean };

export type PermissionRequest = { readonly id: string; readonly workflow: string; readonly name: string; readonly script: string; readonly version: string; readonly asks: readonly Ask[]; readonly askedAt: number; readonly askedBy: string };

export type Permissions = { readonly workflow: string; readonly name: string; readonly grants: readonly Grant[]; readonly missing: readonly Ask[]; readonly request: PermissionRequest | null };

export type Problem = { readonly type: string; readonly title: string; readonly status: number; readonly detail: string; readonly code: string; readonly why: string; readonly retryable: boolean; readonly ids: Readonly<Record<string, string>>; readonly next: readonly NextStep[]; readonly docs: string; readonly notBefore?: number; readonly findings?: readonly unknown[] };

export type Ready = { readonly status: 'ready' };

export type ResultAsked = { readonly schema: unknown; readonly required: boolean; readonly assumed: unknown };

export type Run = { readonly id: string; readonly scriptRunId: string; readonly scriptId: string; readonly workflowId: string; readonly rootRunId: string; readonly retryOf: string | null; readonly attempt: number; readonly handlerType: 'producer' | 'consumer'; readonly handlerName: string; readonly phase: 'preparing' | 'prepared' | 'mutating' | 'mutated' | 'emitting' | 'committed' | 'executing'; readonly status: RunStatus; readonly prepareResult: unknown; readonly mutationOutcome: '' | 'success' | 'failure' | 'skipped'; readonly outputState: unknown; readonly error: string | null; readonly errorType: string | null; readonly suspects: readonly string[]; readonly cost: number; readonly startSeq: number; readonly deliveryId: string | null; readonly version: string | null; readonly startedAt: number; readonly endedAt: number | null };

export type RunStatus = 'active' | 'paused:transient' | 'paused:approval' | 'paused:reconciliation' | 'failed:logic' | 'failed:internal' | 'crashed' | 'cancelled' | 'committed';

export type Samples = { readonly events: readonly { readonly topic: string; readonly messageId: string; readonly payload: unknown; readonly title?: string }[]; readonly reads: readonly { readonly connection: string; readonly method: string; readonly request: unknown; readonly answer: unknown }[]; readonly mutations: readonly { readonly connection: string; readonly method: string; readonly params: unknown; readonly result: unknown }[]; readonly states: Readonly<Record<string, unknown>> };

export type Scope = 'read' | 'operate' | 'edit' | 'admin';

export type Secret = { readonly name: string; readonly version: number; readonly changedAt: number; readonly changedBy: string; readonly connections: readonly string[]; readonly trouble: string | null };

export type Session = { readonly id: string; readonly executionId: string; readonly scriptId: string; readonly workflowId: string; readonly trigger: Trigger; readonly result: '' | 'completed' | 'failed'; readonly end: ExecutionEnd | null; readonly error: string | null; readonly cost: number; readonly handlerRunCount: number; readonly version: string | null; readonly startedAt: number; readonly endedAt: number | null };

export type ShownDelivery = { readonly kind: 'delivery'; readonly row: Delivery; readonly runs: readonly Run[]; readonly events: readonly Event[]; readonly inputs: readonly InputRow[] };

export type ShownEvent = { readonly kind: 'event'; readonly row: Event; readonly inputs: readonly InputRow[]; readonly redone: readonly Event[]; readonly outputs: readonly Output[] };

export type ShownExecution = { readonly kind: 'execution'; readonly row: Execution };

export type ShownInput = { readonly kind: 'input'; readonly row: { readonly id: string; readonly workflowId: string; readonly source: string; readonly type: string; readonly externalId: string; readonly title: string; readonly createdAt: number; readonly state: 'done' | 'pending' | 'skipped' | 'waiting'; readonly sentence: string; readonly versions: readonly string[] }; readonly outputs: readonly Output[]; readonly events: readonly Event[] };

export type ShownOutput = { readonly kind: 'output'; readonly row: { readonly id: string; readonly handlerRunId: string; readonly rootRunId: string; readonly scriptId: string; readonly workflowId: string; readonly status: OutputStatus; readonly connection: string; readonly method: string; readonly params: unknown; readonly effectHash: string; readonly eventIds: readonly string[]; readonly firstEventId: string; readonly idempotencyKey: string; readonly uiTitle: string | null; readonly preview: string; readonly result: unknown; readonly error: string | null; readonly canReconcile: boolean; readonly visibilityMs: number; readonly callTimeoutMs: number; readonly callDeadline: number | null; readonly callEndedAt: number | null; readonly approvedAt: number | null; readonly approvedBy: string | null; readonly approvalExpiresAt: number | null; readonly reconcileAt: number | null; readonly reconcileOwner: string | null; readonly reconcileUntil: number | null; readonly reconcileCount: number; readonly setAsideAt: number | null; readonly resolvedBy: 'provider' | 'reconcile' | 'user_assert_applied' | 'user_assert_failed' | 'user_skip' | 'user_reject' | 'expired' | null; readonly resolvedByName: string | null; readonly resolvedAt: number | null; readonly createdAt: number; readonly words: string; readonly version: string; readonly handler: string }; readonly inputs: readonly { readonly id: string; readonly source: string; readonly title: string }[]; readonly events: readonly Event[]; readonly evidence: readonly Evidence[] };

export type ShownRun = { readonly kind: 'run'; readonly row: Run; readonly chain: readonly string[]; readonly runs: readonly Run[]; readonly output?: Output; readonly reserved: readonly Event[]; readonly published: readonly Event[]; readonly reads: readonly { readonly runId: string; readonly position: number; readonly at: number; readonly connection: string; readonly method: string; readonly request: unknown; readonly answer: string }[]; readonly logs: readonly { readonly runId: string; readonly position: number; readonly at: number; readonly message: string; readonly data: unknown }[] };

export type ShownSession = { readonly kind: 'session'; readonly row: Session; readonly runs: readonly Run[] };

export type ShownTask = { readonly kind: 'task'; readonly row: Task };

export type ShownVersion = { readonly kind: 'version'; readonly row: Version; readonly code?: string; readonly sources: readonly { readonly file: string; readonly text: string }[]; readonly uses: Readonly<Record<string, string>>; readonly asks: readonly Ask[]; readonly missing: readonly Ask[]; readonly schedules: unknown; readonly webhooks: unknown };

export type ShownWorker = { readonly kind: 'worker'; readonly row: { readonly id: string; readonly name: string; readonly pool: string; readonly version: string | null; readonly status: 'open' | 'cordoned' | 'draining'; readonly concurrency: number | null; readonly lacks: readonly string[]; readonly startedAt: number; readonly leaseUntil: number | null; readonly endedAt: number | null } };

export type ShownWorkflow = { readonly kind: 'workflow'; readonly row: { readonly id: string; readonly name: string; readonly status: WorkflowStatus; readonly holds: readonly ('user' | 'unknown' | 'approval' | 'connection' | 'error')[]; readonly errorReason: string | null; readonly heldConnections: readonly string[]; readonly grantMissing: boolean; readonly maintenance: boolean; readonly maintenanceRunId: string | null; readonly pendingRetryRunId: string | null; readonly eventSeq: number; readonly quiet: boolean; readonly dueAt: number | null; readonly activeScriptId: string | null; readonly createdAt: number; readonly version: string | null; readonly pending: number; readonly waiting: Waiting; readonly sentence: string; readonly since: number | null }; readonly next: readonly NextStep[]; readonly state: readonly HandlerState[]; readonly executions: readonly Execution[]; readonly tasks: readonly Task[] };

export type Standing = 'unknown' | 'checking' | 'approval' | 'connection' | 'error' | 'evidence' | 'repair' | 'paused' | 'running' | 'cancelling' | 'retrying' | 'limited' | 'worker' | 'quiet' | 'due' | 'idle' | 'draft' | 'ready' | 'archived';

export type Status = { readonly workflow: string; readonly name: string; readonly status: WorkflowStatus; readonly kind: Standing; readonly kinds: readonly Standing[]; readonly sentence: string; readonly since: number | null; readonly blocks: string | null; readonly waiting: Waiting; readonly next: readonly NextStep[] };

export type Task = { readonly id: string; readonly workflowId: string; readonly runId: string; readonly kind: 'repair' | 'evidence'; readonly status: 'open' | 'closed'; readonly detail: string; readonly createdAt: number; readonly closedAt: number | null; readonly closedBy: string | null };

export type Token = { readonly id: string; readonly kind: 'token' | 'session'; readonly name: string; readonly scopes: readonly Scope[]; readonly parentId: string | null; readonly createdAt: number; readonly createdBy: string; readonly expiresAt: number; readonly revokedAt: number | null; readonly revokedBy: string | null; readonly state: 'good' | 'expired' | 'revoked' };

export type Trigger = 'wake' | 'retry' | 'event' | 'schedule' | 'webhook' | 'manual';

export type Version = { readonly id: string; readonly workflowId: string; readonly major: number; readonly minor: number; readonly contentHash: string; readonly handlers: { readonly topics: readonly string[]; readonly producers: readonly { readonly name: string; readonly publishes: readonly string[]; readonly webhook: boolean }[]; readonly consumers: readonly { readonly name: string; readonly subscribe: readonly string[]; readonly publishes: readonly string[]; readonly hasMutate: boolean; readonly hasNext: boolean }[] }; readonly createdAt: number; readonly createdBy: string; readonly version: string; readonly active: boolean };

export type Waiting = { readonly pending: number; readonly reserved: number; readonly parked: number; readonly deliveries: number };

export type Worker = { readonly id: string; readonly name: string; readonly pool: string; readonly version: string | null; readonly state: 'alive' | 'silent'; readonly status: 'open' | 'cordoned' | 'draining'; readonly startedAt: number; readonly leaseUntil: number; readonly load: number; readonly concurrency: number | null; readonly lacks: readonly string[] };

export type Workflow = { readonly id: string; readonly name: string; readonly status: WorkflowStatus; readonly holds: readonly ('user' | 'unknown' | 'approval' | 'connection' | 'error')[]; readonly errorReason: string | null; readonly heldConnections: readonly string[]; readonly grantMissing: boolean; readonly maintenance: boolean; readonly maintenanceRunId: string | null; readonly pendingRetryRunId: string | null; readonly eventSeq: number; readonly quiet: boolean; readonly dueAt: number | null; readonly activeScriptId: string | null; readonly createdAt: number; readonly version: string | null; readonly pending: number; readonly waiting: Waiting };

export type WorkflowStatus = 'draft' | 'ready' | 'active' | 'paused' | 'error' | 'archived';

/** Every operation by its method and path: what it takes, and what it answers. */
export interface Operations {
  /** that the process answers; if it does not for long, start it again */
  'GET /health': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Alive;
  };
  /** that it takes work: 503 while nothing can be written, and while it drains */
  'GET /ready': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Ready;
  };
  /** counters and gauges in the text format of Prometheus */
  'GET /metrics': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: string;
  };
  /** which engine this is, and that it answers */
  'GET /api/health': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Health;
  };
  /** write a consistent copy of the database, while the engine runs */
  'POST /api/backup': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly file: string };
    answer: { readonly schema: 1 } & { readonly file: string; readonly workflows: number };
  };
  /** everything that must be true, with whatever breaks it */
  'GET /api/doctor': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Diagnosis;
  };
  /** open a session of the console with a token, or with the code of a link; sets the cookie and gives the other half of it */
  'POST /api/login': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly token?: string; readonly code?: string };
    answer: { readonly schema: 1 } & LoggedIn;
  };
  /** end the session of the console that asks */
  'POST /api/logout': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly ended: string };
  };
  /** who asks, and what they may do */
  'GET /api/me': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Me;
  };
  /** a link that opens the console once, within ten minutes, for whoever asks for it */
  'POST /api/login-links': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly url: string; readonly expiresAt: number };
  };
  /** the tokens and the sessions they opened, newest first */
  'GET /api/tokens': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; kind?: 'token' | 'session'; state?: 'good' | 'expired' | 'revoked' };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Token[]; readonly next: string | null };
  };
  /** a new token; its secret is told now and never again */
  'POST /api/tokens': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresInMs?: number };
    answer: { readonly schema: 1 } & { readonly token: string; readonly secret: string; readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt: number };
  };
  /** nobody gets in with this token any more, nor with the sessions it opened */
  'POST /api/tokens/{id}/revoke': {
    path: { id: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly token: string };
  };
  /** everything at a glance: what needs a person, the last day, the age of the backlog, health */
  'GET /api/overview': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Overview;
  };
  /** how much waits for a person, by kind */
  'GET /api/needs/count': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & NeedsCount;
  };
  /** inputs and outputs over time, by the hour or the day */
  'GET /api/chart': {
    path: Record<never, never>;
    query: { from?: number; to?: number; per?: 'hour' | 'day'; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & Chart;
  };
  /** how much waits in each workflow, and since when; the oldest first */
  'GET /api/backlog': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Backlog[]; readonly next: string | null };
  };
  /** anything by its id, its name or a part of its title */
  'GET /api/search': {
    path: Record<never, never>;
    query: { q: string; limit?: number };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Found[]; readonly next: string | null };
  };
  /** producers, topics and consumers, and how much waits between them */
  'GET /api/workflows/{workflow}/graph': {
    path: { workflow: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Graph;
  };
  /** live changes as server-sent events: keys of what is not as it was; one `reset` when some were missed */
  'GET /api/live': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: string;
  };
  /** this document */
  'GET /api/openapi.json': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: unknown;
  };
  /** how each workflow stands, in plain words, with what to do about it */
  'GET /api/status': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; kind?: Standing; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Status[]; readonly next: string | null };
  };
  /** everything that waits for a person, each with its evidence and what can be pressed */
  'GET /api/needs': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; kind?: 'unknown' | 'approval' | 'connection' | 'repair' | 'error' | 'evidence' | 'permission'; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Need[]; readonly next: string | null };
  };
  /** the story of an input, event, run, output, delivery or workflow, in the order of time */
  'GET /api/explain/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Explained;
  };
  /** the workflows, by name */
  'GET /api/workflows': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; status?: WorkflowStatus };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Workflow[]; readonly next: string | null };
  };
  /** one workflow, by its name or id */
  'GET /api/workflows/{workflow}': {
    path: { workflow: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Workflow;
  };
  /** the versions of a workflow, newest first */
  'GET /api/workflows/{workflow}/versions': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; author?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Version[]; readonly next: string | null };
  };
  /** of one workflow: sessions, newest first */
  'GET /api/workflows/{workflow}/sessions': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: '' | 'completed' | 'failed'; trigger?: Trigger; version?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Session[]; readonly next: string | null };
  };
  /** sessions, newest first */
  'GET /api/sessions': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: '' | 'completed' | 'failed'; trigger?: Trigger; version?: string; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Session[]; readonly next: string | null };
  };
  /** of one workflow: runs, newest first */
  'GET /api/workflows/{workflow}/runs': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: RunStatus; handler?: string; session?: string; version?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Run[]; readonly next: string | null };
  };
  /** runs, newest first */
  'GET /api/runs': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: RunStatus; handler?: string; session?: string; version?: string; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Run[]; readonly next: string | null };
  };
  /** of one workflow: events, oldest first */
  'GET /api/workflows/{workflow}/events': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: EventStatus; topic?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Event[]; readonly next: string | null };
  };
  /** events, oldest first */
  'GET /api/events': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: EventStatus; topic?: string; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Event[]; readonly next: string | null };
  };
  /** of one workflow: what came in and what came of it, newest first */
  'GET /api/workflows/{workflow}/inputs': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: 'done' | 'pending' | 'skipped' | 'waiting'; source?: string; type?: string; version?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Input[]; readonly next: string | null };
  };
  /** what came in and what came of it, newest first */
  'GET /api/inputs': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: 'done' | 'pending' | 'skipped' | 'waiting'; source?: string; type?: string; version?: string; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Input[]; readonly next: string | null };
  };
  /** of one workflow: calls to the outside, newest first */
  'GET /api/workflows/{workflow}/outputs': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: OutputStatus; handler?: string; connection?: string; method?: string; version?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Output[]; readonly next: string | null };
  };
  /** calls to the outside, newest first */
  'GET /api/outputs': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: OutputStatus; handler?: string; connection?: string; method?: string; version?: string; workflow?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Output[]; readonly next: string | null };
  };
  /** what a workflow’s handlers logged, newest first */
  'GET /api/workflows/{workflow}/logs': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; handler?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly LogLine[]; readonly next: string | null };
  };
  /** what each handler remembers, and when it is next due */
  'GET /api/workflows/{workflow}/state': {
    path: { workflow: string };
    query: { after?: string; limit?: number; q?: string; handler?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly HandlerState[]; readonly next: string | null };
  };
  /** what a rehearsal takes: the newest events that came from outside, what reads and calls answered, what handlers remember */
  'GET /api/workflows/{workflow}/recorded': {
    path: { workflow: string };
    query: { limit?: number };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly samples: Samples };
  };
  /** anything by its id, or a workflow by its name, with what belongs to it */
  'GET /api/show/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownWorkflow | ShownVersion | ShownExecution | ShownSession | ShownRun | ShownEvent | ShownOutput | ShownInput | ShownDelivery | ShownTask | ShownWorker;
  };
  /** a version, with its code and its author’s files */
  'GET /api/versions/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownVersion;
  };
  /** a session with its runs */
  'GET /api/sessions/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownSession;
  };
  /** a run with its chain, its call, what it read and logged */
  'GET /api/runs/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownRun;
  };
  /** an event with its inputs and the calls made for it */
  'GET /api/events/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownEvent;
  };
  /** an input with everything that came of it */
  'GET /api/inputs/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownInput;
  };
  /** a call with its inputs and its evidence */
  'GET /api/outputs/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownOutput;
  };
  /** a webhook’s delivery with what came of it */
  'GET /api/deliveries/{id}': {
    path: { id: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & ShownDelivery;
  };
  /** run a workflow now, its producers too */
  'POST /api/workflows/{workflow}/trigger': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** start no further run and send nothing new */
  'POST /api/workflows/{workflow}/pause': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** lift a pause or an error */
  'POST /api/workflows/{workflow}/resume': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** put a workflow away for good */
  'POST /api/workflows/{workflow}/archive': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** leave repair, and try again as it is */
  'POST /api/workflows/{workflow}/retry': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** give a workflow that stands still the permission it lacks */
  'POST /api/workflows/{workflow}/approve': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** stop the session under way at a safe point */
  'POST /api/workflows/{workflow}/cancel': {
    path: { workflow: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Acted;
  };
  /** publish events */
  'POST /api/workflows/{workflow}/publish': {
    path: { workflow: string };
    query: Record<never, never>;
    body: { readonly events: readonly { readonly topic: string; readonly messageId?: string; readonly payload?: unknown; readonly title?: string }[] };
    answer: { readonly schema: 1 } & { readonly workflow: string; readonly events: readonly string[]; readonly alreadyThere: readonly { readonly id: string; readonly messageId: string; readonly status: EventStatus }[] };
  };
  /** mark what waits and is older than a time as not to be done, of one topic or of all */
  'POST /api/workflows/{workflow}/skip-pending': {
    path: { workflow: string };
    query: Record<never, never>;
    body: { readonly olderThan: number; readonly topic?: string };
    answer: { readonly schema: 1 } & { readonly workflow: string; readonly skipped: number };
  };
  /** set what a handler remembers */
  'PUT /api/workflows/{workflow}/state/{handler}': {
    path: { workflow: string; handler: string };
    query: Record<never, never>;
    body: { readonly state: unknown };
    answer: { readonly schema: 1 } & { readonly workflow: string; readonly handler: string; readonly state: unknown };
  };
  /** say what is wrong with a script, without keeping it */
  'POST /api/validate': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly name: string; readonly code: string; readonly sourceMap: string; readonly contentHash?: string; readonly calls?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> };
    answer: { readonly schema: 1 } & { readonly valid: boolean; readonly findings: readonly unknown[] };
  };
  /** make a script a version of its workflow, and let it take over */
  'POST /api/deploy': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly name: string; readonly code: string; readonly sourceMap: string; readonly contentHash?: string; readonly calls?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>; readonly activate?: boolean; readonly skipPending?: boolean; readonly base?: string; readonly major?: boolean; readonly allow?: boolean };
    answer: { readonly schema: 1 } & Deployed;
  };
  /** let the version before, or the one named, take over again */
  'POST /api/workflows/{workflow}/rollback': {
    path: { workflow: string };
    query: Record<never, never>;
    body: { readonly version?: string };
    answer: { readonly schema: 1 } & { readonly workflow: string; readonly name: string; readonly script: string; readonly version: string; readonly status?: WorkflowStatus; readonly sentence?: string; readonly undo: readonly string[] | null; readonly next: readonly NextStep[]; readonly activated: boolean; readonly request: string | null };
  };
  /** what all workflows may ask of connections, by their names */
  'GET /api/grants': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; workflow?: string; connection?: string; method?: string; kind?: 'read' | 'change' };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly GrantOf[]; readonly next: string | null };
  };
  /** what a workflow may ask of its connections, and what waits to be allowed */
  'GET /api/workflows/{workflow}/permissions': {
    path: { workflow: string };
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & Permissions;
  };
  /** allow a workflow methods of connections, with targets and a cap an hour */
  'POST /api/workflows/{workflow}/permissions': {
    path: { workflow: string };
    query: Record<never, never>;
    body: { readonly grants: readonly { readonly connection: string; readonly method: string; readonly targets?: readonly string[]; readonly capPerHour?: number | null }[] };
    answer: { readonly schema: 1 } & Permissions;
  };
  /** take back what a workflow was allowed; its next such call asks a person */
  'POST /api/workflows/{workflow}/permissions/take': {
    path: { workflow: string };
    query: Record<never, never>;
    body: { readonly connection: string; readonly method: string };
    answer: { readonly schema: 1 } & Permissions;
  };
  /** allow a version what it asks for: it takes over */
  'POST /api/requests/{id}/allow': {
    path: { id: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & PermissionAnswered;
  };
  /** refuse a version what it asks for: what is active stays */
  'POST /api/requests/{id}/refuse': {
    path: { id: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & PermissionAnswered;
  };
  /** answer what became of a call whose outcome nobody knows */
  'POST /api/outputs/{id}/resolve': {
    path: { id: string };
    query: Record<never, never>;
    body: { readonly how: 'happened' | 'did_not_happen' | 'skip' | 'check_again'; readonly result?: unknown };
    answer: { readonly schema: 1 } & Answered;
  };
  /** one answer for many calls: those named, or all of a connection and a time whose outcome nobody knows */
  'POST /api/outputs/resolve': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly how: 'happened' | 'did_not_happen' | 'skip' | 'check_again'; readonly outputs?: readonly string[]; readonly connection?: string; readonly from?: number; readonly to?: number };
    answer: { readonly schema: 1 } & { readonly answered: number; readonly refused: number; readonly items: readonly { readonly output: string; readonly ok: boolean; readonly problem?: Problem }[] };
  };
  /** leave an unknown outcome open, and let the workflow go on without it */
  'POST /api/outputs/{id}/set-aside': {
    path: { id: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & Answered;
  };
  /** let a call that waits for approval be sent; and with `cover` more like it, or with `allow` its target from now on */
  'POST /api/outputs/{id}/approve': {
    path: { id: string };
    query: Record<never, never>;
    body: { readonly cover?: { readonly calls: number; readonly hours?: number; readonly target?: 'this' | 'any' }; readonly allow?: boolean };
    answer: { readonly schema: 1 } & Answered;
  };
  /** do not send a call that waits for approval: skip its events, or park them */
  'POST /api/outputs/{id}/reject': {
    path: { id: string };
    query: Record<never, never>;
    body: { readonly how: 'skip' | 'park' };
    answer: { readonly schema: 1 } & Answered;
  };
  /** end a stopped run without its next */
  'POST /api/runs/{id}/finish': {
    path: { id: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly run: string; readonly status: RunStatus };
  };
  /** leave out the delivery that its webhook failed on, and go on with the others */
  'POST /api/deliveries/{id}/skip': {
    path: { id: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly delivery: string; readonly run: string };
  };
  /** mark pending or parked events as not to be done */
  'POST /api/events/skip': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly events: readonly string[] };
    answer: { readonly schema: 1 } & { readonly events: readonly string[]; readonly changed?: number };
  };
  /** put pending events aside */
  'POST /api/events/park': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly events: readonly string[] };
    answer: { readonly schema: 1 } & { readonly events: readonly string[]; readonly changed?: number };
  };
  /** bring parked events back */
  'POST /api/events/unpark': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly events: readonly string[] };
    answer: { readonly schema: 1 } & { readonly events: readonly string[]; readonly changed?: number };
  };
  /** do consumed or skipped events again, as new ones */
  'POST /api/events/redo': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly events: readonly string[] };
    answer: { readonly schema: 1 } & { readonly events: readonly string[]; readonly changed?: number };
  };
  /** what the config connects, whether it works, and who waits for it */
  'GET /api/connections': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; status?: 'ok' | 'refused'; type?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Connection[]; readonly next: string | null };
  };
  /** read once through a connection; if that works, everybody who waits for it goes on */
  'POST /api/connections/{name}/test': {
    path: { name: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & ConnectionTested;
  };
  /** a person says that a connection works again */
  'POST /api/connections/{name}/cure': {
    path: { name: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & ConnectionTested;
  };
  /** the processes that have not said goodbye: until when each is taken for alive, how much it does, and what it takes */
  'GET /api/workers': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; pool?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Worker[]; readonly next: string | null; readonly shared: boolean };
  };
  /** let a worker claim nothing new; it goes on with what it has */
  'POST /api/workers/{worker}/cordon': {
    path: { worker: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly worker: string; readonly name: string; readonly status: 'open' | 'cordoned' | 'draining'; readonly sentence: string };
  };
  /** let a worker that was cordoned take work again */
  'POST /api/workers/{worker}/uncordon': {
    path: { worker: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly worker: string; readonly name: string; readonly status: 'open' | 'cordoned' | 'draining'; readonly sentence: string };
  };
  /** let a process finish what it has and end; whether it is started again is up to its machine */
  'POST /api/workers/{worker}/drain': {
    path: { worker: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly worker: string; readonly name: string; readonly status: 'open' | 'cordoned' | 'draining'; readonly sentence: string };
  };
  /** how long history is kept, and what was last removed by this process */
  'GET /api/retention': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    answer: { readonly schema: 1 } & { readonly keepDays: number | null; readonly isRunning: boolean; readonly last: { readonly startedAt: number; readonly endedAt: number; readonly removed: HistoryRows } | null };
  };
  /** what would be removed now, by the same rule; nothing is written */
  'POST /api/retention/preview': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly removable: HistoryRows; readonly isWhole: boolean };
  };
  /** begin to remove what is older than the config keeps, instead of within the hour */
  'POST /api/retention/run': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly started: boolean };
  };
  /** write a workflow and its history into a file where the engine runs; never a secret */
  'POST /api/workflows/{workflow}/export': {
    path: { workflow: string };
    query: Record<never, never>;
    body: { readonly file: string };
    answer: { readonly schema: 1 } & { readonly file: string; readonly rows: number; readonly bytes: number; readonly sha256: string; readonly goesOn: boolean };
  };
  /** put a workflow from such a file in, paused; all of it or nothing */
  'POST /api/import': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: { readonly file: string; readonly name?: string };
    answer: { readonly schema: 1 } & { readonly workflow: string; readonly name: string; readonly status: string; readonly rows: number; readonly unknown: number };
  };
  /** the secrets that are set, by name: who set them, and which connections use them; never what they are */
  'GET /api/secrets': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; connection?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Secret[]; readonly next: string | null };
  };
  /** set a secret; connections that were refused for want of it are tried again */
  'PUT /api/secrets/{name}': {
    path: { name: string };
    query: Record<never, never>;
    body: { readonly value: string };
    answer: { readonly schema: 1 } & { readonly name: string; readonly version: number; readonly connections: readonly string[]; readonly freed: readonly string[] };
  };
  /** take a secret away; calls that need it wait until it is set again */
  'POST /api/secrets/{name}/remove': {
    path: { name: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly name: string; readonly connections: readonly string[] };
  };
  /** seal every secret with a new master key; what they are stays the same */
  'POST /api/rotate-key': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly resealed: number; readonly place: string };
  };
  /** how people are told that something needs them, and whether that works */
  'GET /api/channels': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; status?: 'untried' | 'ok' | 'failing'; type?: 'webhook' | 'email' | 'command' };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Channel[]; readonly next: string | null };
  };
  /** tell somebody that they can be told */
  'POST /api/channels/{name}/test': {
    path: { name: string };
    query: Record<never, never>;
    body: Record<never, never>;
    answer: { readonly schema: 1 } & { readonly channel: string; readonly ok: boolean; readonly error: string | null };
  };
  /** whom the engine told of what, newest first */
  'GET /api/notices': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; status?: 'due' | 'sent' | 'given_up'; channel?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly Notice[]; readonly next: string | null };
  };
  /** every act of a person, newest first */
  'GET /api/audit': {
    path: Record<never, never>;
    query: { after?: string; limit?: number; q?: string; from?: number; to?: number; order?: 'newest' | 'oldest'; actor?: string; act?: string; subject?: string };
    body: undefined;
    answer: { readonly schema: 1 } & { readonly items: readonly AuditEntry[]; readonly next: string | null };
  };
  /** whether the log is as it was written; with `seq` and `hash` also whether an entry that was noted is still in it */
  'GET /api/audit/verify': {
    path: Record<never, never>;
    query: { seq?: number; hash?: string };
    body: undefined;
    answer: { readonly schema: 1 } & AuditVerified;
  };
  /** a webhook’s delivery, signed by its sender: 202 when it is on the disk, 200 when it was already */
  'POST /hooks/{workflow}/{hook}': {
    path: { workflow: string; hook: string };
    query: Record<never, never>;
    body: unknown;
    answer: unknown;
  };
}
