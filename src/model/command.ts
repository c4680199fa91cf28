import type {
  AllowanceId,
  DeliveryId,
  EventId,
  EvidenceId,
  ExecutionId,
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
import type { HistoryCommands } from './command-of-history.ts';
import type {
  Answer,
  Call,
  Cover,
  ErrorClass,
  ExpectedRun,
  Fence,
  GivenGrant,
  HandedOut,
  Publish,
  RegisteredInput,
  Reservation,
  StopOptions,
  Stopped,
} from './command-words.ts';
import type { Handlers, RunLog, RunRead } from './rows.ts';
import type { Lack } from './rows-of-fleet.ts';
import type {
  ConsumerPhase,
  ExecutionEnd,
  NoticeStatus,
  Phase,
  RunStatus,
  StopStatus,
  TaskKind,
  TokenKind,
  TokenScope,
  Trigger,
  WorkerStatus,
  WorkflowStatus,
} from './states.ts';

export type * from './command-words.ts';

/** What each command takes and gives back. The names of the methods of the execution model are those of its sources. */
export interface Commands extends HistoryCommands {
  // what a worker does
  startRun: { takes: { fence: Fence; handler: string; delivery?: DeliveryId | undefined }; gives: { run: RunId } };
  advanceSession: {
    takes: {
      fence: Fence;
      expected?: ExpectedRun | undefined;
      /** Where nothing is due now, but may be in a moment, the session is left open. */
      stays?: boolean | undefined;
      /** How long the session may take: past that it begins nothing more. */
      timeoutMs?: number | undefined;
    };
    gives: { run: RunId; isOther?: true } | { ended: ExecutionEnd } | { waits: true };
  };
  createRetryRun: { takes: { fence: Fence; run: RunId }; gives: { run: RunId; phase: Phase } };
  updateConsumerPhase: {
    takes: {
      fence: Fence;
      run: RunId;
      phase: ConsumerPhase;
      reservations?: readonly Reservation[] | undefined;
      prepareResult?: string | undefined;
      wakeAt?: number | undefined;
      handedOut?: readonly HandedOut[] | undefined;
      /** End the run in the same transaction when its reservations do not hold, instead of refusing. */
      orStop?: boolean | undefined;
    };
    gives: { phase: ConsumerPhase } | Stopped;
  };
  startMutation: {
    takes: { fence: Fence; run: RunId; call: Call };
    gives:
      | { mutation: MutationId; idempotencyKey: string; deadline: number }
      | (Stopped & { mutation?: MutationId; reason: string });
  };
  updateMutationResult: {
    takes: {
      fence?: Fence | undefined;
      mutation: MutationId;
      outcome: 'success' | 'failure' | 'skipped';
      answer: Answer;
      result?: string | undefined;
      error?: string | undefined;
      errorClass?: ErrorClass | undefined;
      stop?: Partial<StopOptions> | undefined;
    };
    gives: { run: RunId; status: RunStatus; phase: Phase };
  };
  updateHandlerRunStatus: { takes: { fence: Fence; run: RunId; status: StopStatus } & StopOptions; gives: Stopped };
  commitConsumer: {
    takes: {
      fence: Fence;
      run: RunId;
      state?: string | undefined;
      publishes?: readonly Publish[] | undefined;
      cost?: number | undefined;
    };
    gives: { published: readonly EventId[] };
  };
  commitProducer: {
    takes: {
      fence: Fence;
      run: RunId;
      state?: string | undefined;
      inputs?: readonly RegisteredInput[] | undefined;
      publishes?: readonly Publish[] | undefined;
      nextAt?: number | null | undefined;
      cost?: number | undefined;
    };
    gives: { published: readonly EventId[] };
  };
  keepRecords: {
    takes: {
      fence: Fence;
      run: RunId;
      logs: readonly Omit<RunLog, 'runId'>[];
      reads: readonly Omit<RunRead, 'runId'>[];
    };
    gives: Record<never, never>;
  };
  finishSession: { takes: { fence: Fence }; gives: { ended: ExecutionEnd } };

  // what an executor, a claiming worker and the reaper do
  requestExecution: {
    takes: { workflow: WorkflowId; trigger: Trigger; by?: string | undefined };
    gives: { execution: ExecutionId; folded: boolean };
  };
  scheduleDue: { takes: { workflow: WorkflowId }; gives: { execution: ExecutionId } | { idle: number | null } };
  /** `slots`: the limits it counts under. Where one has no room the request waits, and its name is the answer. */
  beginScheduling: {
    takes: { execution: ExecutionId; slots?: readonly string[] | undefined };
    gives: { until: number } | { waitsFor: string };
  };
  /** As the config says. */
  setLimit: { takes: { limit: string; slotsMax: number | null }; gives: Record<never, never> };
  handOff: { takes: { execution: ExecutionId }; gives: { epoch: number } };
  sweepScheduling: { takes: { execution: ExecutionId }; gives: { requested: true } };
  claimExecution: {
    takes: { execution: ExecutionId; epoch: number; owner: WorkerId };
    gives: { session: SessionId; fence: Fence } | { cancelled: true };
  };
  cancelExecution: { takes: { execution: ExecutionId; by: string }; gives: { cancelled: boolean } };
  /** `timeoutMs`: the limit that its session is past, whether or not its owner lives. */
  reapExecution: {
    takes: { execution: ExecutionId; epoch: number; provenDead: boolean; timeoutMs?: number | undefined };
    gives: { ended: ExecutionEnd; run: Stopped | null };
  };
  registerWorker: {
    takes: {
      worker: WorkerId;
      name: string;
      pool: string;
      leaseMs: number;
      version?: string | undefined;
      concurrency?: number | undefined;
    };
    gives: Record<never, never>;
  };
  /** The answer to a sign of life says what people want of this process. */
  renewWorker: { takes: { worker: WorkerId; leaseMs: number }; gives: { leaseUntil: number; status: WorkerStatus } };
  /** The process itself: all that it lacks now. */
  noteLacks: { takes: { worker: WorkerId; lacks: readonly Lack[] }; gives: Record<never, never> };
  cordonWorker: { takes: { worker: WorkerId; by: string }; gives: { status: WorkerStatus } };
  uncordonWorker: { takes: { worker: WorkerId; by: string }; gives: { status: WorkerStatus } };
  drainWorker: { takes: { worker: WorkerId; by: string }; gives: { status: WorkerStatus } };
  /** The process itself, told by a signal of its machine. */
  beginDraining: { takes: { worker: WorkerId }; gives: { status: WorkerStatus } };
  /** `silentMs`: others say so, because it has shown no sign of life for so long since its lease ran out. */
  endWorker: { takes: { worker: WorkerId; silentMs?: number | undefined }; gives: Record<never, never> };
  deleteMessage: { takes: { message: MessageId }; gives: Record<never, never> };

  // what looks up unknown outcomes
  claimReconcile: { takes: { mutation: MutationId; owner: WorkerId; leaseMs: number }; gives: { until: number } };
  postponeReconcile: { takes: { mutation: MutationId; delayMs: number }; gives: { at: number | null } };
  recordEvidence: {
    takes: { mutation: MutationId; says: 'applied' | 'failed' | 'uncertain'; detail: string; source: string };
    gives: { evidence: EvidenceId; held: boolean };
  };

  // what a person does
  createWorkflow: { takes: { name: string; by: string }; gives: { workflow: WorkflowId } };
  addScript: {
    takes: {
      workflow: WorkflowId;
      major: number;
      minor: number;
      contentHash: string;
      code: string;
      /** What the host must know of the version beside its handlers, as JSON; the model does not look inside. */
      manifest?: string | undefined;
      handlers: Handlers;
      by: string;
    };
    gives: { script: ScriptId };
  };
  activateScript: {
    takes: {
      workflow: WorkflowId;
      script: ScriptId;
      by: string;
      skipPending?: boolean | undefined;
      grantMissing?: boolean | undefined;
      /** The version its author started from: refused when another one has taken over since. */
      base?: ScriptId | undefined;
      /** When each scheduled producer is first due. */
      schedule?: Readonly<Record<string, number>> | undefined;
    };
    gives: { status: WorkflowStatus };
  };
  approveGrant: { takes: { workflow: WorkflowId; by: string }; gives: { status: WorkflowStatus } };
  pauseWorkflow: { takes: { workflow: WorkflowId; by: string }; gives: { status: WorkflowStatus } };
  resumeWorkflow: { takes: { workflow: WorkflowId; by: string }; gives: { status: WorkflowStatus } };
  archiveWorkflow: { takes: { workflow: WorkflowId; by: string }; gives: { status: WorkflowStatus } };
  holdWorkflow: { takes: { workflow: WorkflowId; reason: string }; gives: { status: WorkflowStatus } };
  publishEvents: {
    takes: { workflow: WorkflowId; publishes: readonly Publish[]; by: string };
    gives: { published: readonly EventId[] };
  };
  acceptDelivery: {
    takes: { workflow: WorkflowId; hook: string; deliveryId: string; headers: string; body: string };
    gives: { delivery: DeliveryId; duplicate: boolean };
  };
  skipEvents: { takes: { events: readonly EventId[]; by: string }; gives: { changed: number } };
  skipDelivery: { takes: { delivery: DeliveryId; by: string }; gives: { run: RunId } };
  parkEvents: { takes: { events: readonly EventId[]; by: string }; gives: { changed: number } };
  unparkEvents: { takes: { events: readonly EventId[]; by: string }; gives: { changed: number } };
  redoEvents: { takes: { events: readonly EventId[]; by: string }; gives: { events: readonly EventId[] } };
  skipMutation: { takes: { mutation: MutationId; by: string }; gives: Stopped };
  checkAgain: { takes: { mutation: MutationId; by: string }; gives: { reconcileAt: number } };
  setAside: { takes: { mutation: MutationId; by: string }; gives: Record<never, never> };
  approveCall: {
    takes: { mutation: MutationId; by: string; cover?: Cover | undefined };
    gives: { allowance: AllowanceId | null };
  };
  rejectCall: { takes: { mutation: MutationId; by: string; how: 'skip' | 'park' }; gives: Stopped };
  expireCall: { takes: { mutation: MutationId }; gives: Stopped };
  finishWithoutNext: { takes: { run: RunId; by: string }; gives: Stopped };
  setHandlerState: {
    takes: { workflow: WorkflowId; handler: string; state: string; by: string };
    gives: Record<never, never>;
  };
  cureConnection: {
    takes: { connection: string; by: string };
    gives: { version: number; freed: readonly WorkflowId[] };
  };

  // what people hold, allow and are told
  createToken: {
    takes: {
      kind: TokenKind;
      name: string;
      scopes: readonly TokenScope[];
      hash: string;
      expiresAt: number;
      parent?: TokenId | undefined;
      by: string;
    };
    gives: { token: TokenId };
  };
  revokeToken: { takes: { token: TokenId; by: string }; gives: Record<never, never> };
  setSecret: {
    takes: {
      name: string;
      box: string;
      by: string;
      /** The same secret under another master key: made from the box of this version, and of no use for a later one. */
      resealOf?: number | undefined;
    };
    gives: { version: number };
  };
  removeSecret: { takes: { name: string; by: string }; gives: Record<never, never> };
  giveGrants: {
    takes: { workflow: WorkflowId; grants: readonly GivenGrant[]; by: string };
    gives: { given: number; status: WorkflowStatus };
  };
  takeGrant: {
    takes: { workflow: WorkflowId; connection: string; method: string; by: string };
    gives: Record<never, never>;
  };
  askPermission: {
    takes: { workflow: WorkflowId; script: ScriptId; asks: string; by: string };
    gives: { request: PermissionRequestId };
  };
  answerPermission: {
    takes: { request: PermissionRequestId; answer: 'allowed' | 'refused'; by: string };
    gives: Record<never, never>;
  };
  recordAct: {
    takes: { act: string; subject: string; detail?: string | undefined; by: string };
    gives: Record<never, never>;
  };
  openNotices: {
    takes: { caseKey: string; channels: readonly string[] };
    gives: { opened: readonly NoticeId[] };
  };
  settleNotice: {
    takes: {
      notice: NoticeId;
      /** `begun` before the first byte goes out; the others are what came of it, or that there is nothing to tell any more. */
      outcome: 'begun' | 'sent' | 'failed' | 'given_up';
      error?: string | undefined;
      retryAfterMs?: number | undefined;
    };
    gives: { status: NoticeStatus };
  };

  // repairs
  createMaintenanceTask: { takes: { workflow: WorkflowId }; gives: { task: TaskId; kind: TaskKind; created: boolean } };
  exitMaintenanceMode: {
    takes: { workflow: WorkflowId; by: string; repaired: boolean };
    gives: { status: WorkflowStatus };
  };
}

export type CommandName = keyof Commands;
export type CommandOf<N extends CommandName> = { readonly do: N } & Commands[N]['takes'];
export type Command = { [N in CommandName]: CommandOf<N> }[CommandName];
export type ReplyTo<N extends CommandName> = Commands[N]['gives'];
