import type {
  DeliveryId,
  EventId,
  ExecutionId,
  MessageId,
  MutationId,
  NoticeId,
  PermissionRequestId,
  RunId,
  ScriptId,
  TokenId,
  WorkerId,
  WorkflowId,
} from '#base';
import type {
  CommandName,
  CommandOf,
  Commands,
  ConsumerPhase,
  Fence,
  GivenGrant,
  ImportedRows,
  Lack,
  Publish,
  ReplyTo,
  StopOptions,
  StopStatus,
  Trigger,
} from '#model';

/** The same methods in two ways: each in a transaction of its own, or as a step of one that several share. */
export type Mode = 'alone' | 'step';
export type Reply<M extends Mode, N extends CommandName> = M extends 'step' ? ReplyTo<N> : Promise<ReplyTo<N>>;

type Options<N extends CommandName, Named extends keyof Commands[N]['takes']> = Omit<Commands[N]['takes'], Named>;

/** Every transition of the execution model, under the name its source gave it. */
export abstract class ModelMethods<M extends Mode> {
  protected abstract send<N extends CommandName>(command: CommandOf<N>): Reply<M, N>;

  // a run, by the worker that holds its execution
  startRun(fence: Fence, handler: string, options: Options<'startRun', 'fence' | 'handler'> = {}) {
    return this.send({ do: 'startRun', fence, handler, ...options });
  }
  advanceSession(fence: Fence, options: Options<'advanceSession', 'fence'> = {}) {
    return this.send({ do: 'advanceSession', fence, ...options });
  }
  createRetryRun(fence: Fence, run: RunId) {
    return this.send({ do: 'createRetryRun', fence, run });
  }
  updateConsumerPhase(
    fence: Fence,
    run: RunId,
    phase: ConsumerPhase,
    options: Options<'updateConsumerPhase', 'fence' | 'run' | 'phase'> = {},
  ) {
    return this.send({ do: 'updateConsumerPhase', fence, run, phase, ...options });
  }
  startMutation(fence: Fence, run: RunId, call: Commands['startMutation']['takes']['call']) {
    return this.send({ do: 'startMutation', fence, run, call });
  }
  updateMutationResult(
    mutation: MutationId,
    outcome: Commands['updateMutationResult']['takes']['outcome'],
    options: Options<'updateMutationResult', 'mutation' | 'outcome'>,
  ) {
    return this.send({ do: 'updateMutationResult', mutation, outcome, ...options });
  }
  updateHandlerRunStatus(fence: Fence, run: RunId, status: StopStatus, options: StopOptions) {
    return this.send({ do: 'updateHandlerRunStatus', fence, run, status, ...options });
  }
  commitConsumer(fence: Fence, run: RunId, options: Options<'commitConsumer', 'fence' | 'run'> = {}) {
    return this.send({ do: 'commitConsumer', fence, run, ...options });
  }
  commitProducer(fence: Fence, run: RunId, options: Options<'commitProducer', 'fence' | 'run'> = {}) {
    return this.send({ do: 'commitProducer', fence, run, ...options });
  }
  keepRecords(fence: Fence, run: RunId, records: Options<'keepRecords', 'fence' | 'run'>) {
    return this.send({ do: 'keepRecords', fence, run, ...records });
  }
  finishSession(fence: Fence) {
    return this.send({ do: 'finishSession', fence });
  }

  // executions, from the request to the claim, and after a death
  requestExecution(workflow: WorkflowId, trigger: Trigger, by?: string) {
    return this.send({ do: 'requestExecution', workflow, trigger, by });
  }
  scheduleDue(workflow: WorkflowId) {
    return this.send({ do: 'scheduleDue', workflow });
  }
  beginScheduling(execution: ExecutionId, slots: readonly string[] = []) {
    return this.send({ do: 'beginScheduling', execution, slots });
  }
  setLimit(limit: string, slotsMax: number | null) {
    return this.send({ do: 'setLimit', limit, slotsMax });
  }
  handOff(execution: ExecutionId) {
    return this.send({ do: 'handOff', execution });
  }
  sweepScheduling(execution: ExecutionId) {
    return this.send({ do: 'sweepScheduling', execution });
  }
  claimExecution(execution: ExecutionId, epoch: number, owner: WorkerId) {
    return this.send({ do: 'claimExecution', execution, epoch, owner });
  }
  cancelExecution(execution: ExecutionId, by: string) {
    return this.send({ do: 'cancelExecution', execution, by });
  }
  reapExecution(execution: ExecutionId, epoch: number, options: Options<'reapExecution', 'execution' | 'epoch'>) {
    return this.send({ do: 'reapExecution', execution, epoch, ...options });
  }
  registerWorker(worker: WorkerId, options: Options<'registerWorker', 'worker'>) {
    return this.send({ do: 'registerWorker', worker, ...options });
  }
  renewWorker(worker: WorkerId, leaseMs: number) {
    return this.send({ do: 'renewWorker', worker, leaseMs });
  }
  noteLacks(worker: WorkerId, lacks: readonly Lack[]) {
    return this.send({ do: 'noteLacks', worker, lacks });
  }
  cordonWorker(worker: WorkerId, by: string) {
    return this.send({ do: 'cordonWorker', worker, by });
  }
  uncordonWorker(worker: WorkerId, by: string) {
    return this.send({ do: 'uncordonWorker', worker, by });
  }
  drainWorker(worker: WorkerId, by: string) {
    return this.send({ do: 'drainWorker', worker, by });
  }
  beginDraining(worker: WorkerId) {
    return this.send({ do: 'beginDraining', worker });
  }
  endWorker(worker: WorkerId, how: { readonly silentMs?: number } = {}) {
    return this.send({ do: 'endWorker', worker, ...how });
  }
  deleteMessage(message: MessageId) {
    return this.send({ do: 'deleteMessage', message });
  }

  // unknown outcomes
  claimReconcile(mutation: MutationId, owner: WorkerId, leaseMs: number) {
    return this.send({ do: 'claimReconcile', mutation, owner, leaseMs });
  }
  postponeReconcile(mutation: MutationId, delayMs: number) {
    return this.send({ do: 'postponeReconcile', mutation, delayMs });
  }
  recordEvidence(mutation: MutationId, options: Options<'recordEvidence', 'mutation'>) {
    return this.send({ do: 'recordEvidence', mutation, ...options });
  }
  skipMutation(mutation: MutationId, by: string) {
    return this.send({ do: 'skipMutation', mutation, by });
  }
  checkAgain(mutation: MutationId, by: string) {
    return this.send({ do: 'checkAgain', mutation, by });
  }
  setAside(mutation: MutationId, by: string) {
    return this.send({ do: 'setAside', mutation, by });
  }
  approveCall(mutation: MutationId, by: string, options: Options<'approveCall', 'mutation' | 'by'> = {}) {
    return this.send({ do: 'approveCall', mutation, by, ...options });
  }
  rejectCall(mutation: MutationId, how: 'skip' | 'park', by: string) {
    return this.send({ do: 'rejectCall', mutation, how, by });
  }
  expireCall(mutation: MutationId) {
    return this.send({ do: 'expireCall', mutation });
  }

  // workflows and versions
  createWorkflow(name: string, by: string) {
    return this.send({ do: 'createWorkflow', name, by });
  }
  addScript(workflow: WorkflowId, options: Options<'addScript', 'workflow'>) {
    return this.send({ do: 'addScript', workflow, ...options });
  }
  activateScript(workflow: WorkflowId, script: ScriptId, options: Options<'activateScript', 'workflow' | 'script'>) {
    return this.send({ do: 'activateScript', workflow, script, ...options });
  }
  approveGrant(workflow: WorkflowId, by: string) {
    return this.send({ do: 'approveGrant', workflow, by });
  }
  pauseWorkflow(workflow: WorkflowId, by: string) {
    return this.send({ do: 'pauseWorkflow', workflow, by });
  }
  resumeWorkflow(workflow: WorkflowId, by: string) {
    return this.send({ do: 'resumeWorkflow', workflow, by });
  }
  archiveWorkflow(workflow: WorkflowId, by: string) {
    return this.send({ do: 'archiveWorkflow', workflow, by });
  }
  holdWorkflow(workflow: WorkflowId, reason: string) {
    return this.send({ do: 'holdWorkflow', workflow, reason });
  }
  setHandlerState(workflow: WorkflowId, handler: string, state: string, by: string) {
    return this.send({ do: 'setHandlerState', workflow, handler, state, by });
  }
  cureConnection(connection: string, by: string) {
    return this.send({ do: 'cureConnection', connection, by });
  }

  // events
  publishEvents(workflow: WorkflowId, publishes: readonly Publish[], by: string) {
    return this.send({ do: 'publishEvents', workflow, publishes, by });
  }
  acceptDelivery(workflow: WorkflowId, options: Options<'acceptDelivery', 'workflow'>) {
    return this.send({ do: 'acceptDelivery', workflow, ...options });
  }
  skipEvents(events: readonly EventId[], by: string) {
    return this.send({ do: 'skipEvents', events, by });
  }
  skipDelivery(delivery: DeliveryId, by: string) {
    return this.send({ do: 'skipDelivery', delivery, by });
  }
  parkEvents(events: readonly EventId[], by: string) {
    return this.send({ do: 'parkEvents', events, by });
  }
  unparkEvents(events: readonly EventId[], by: string) {
    return this.send({ do: 'unparkEvents', events, by });
  }
  redoEvents(events: readonly EventId[], by: string) {
    return this.send({ do: 'redoEvents', events, by });
  }
  finishWithoutNext(run: RunId, by: string) {
    return this.send({ do: 'finishWithoutNext', run, by });
  }

  // what people hold, allow and are told
  createToken(options: Commands['createToken']['takes']) {
    return this.send({ do: 'createToken', ...options });
  }
  revokeToken(token: TokenId, by: string) {
    return this.send({ do: 'revokeToken', token, by });
  }
  setSecret(name: string, box: string, by: string, options: { resealOf?: number | undefined } = {}) {
    return this.send({ do: 'setSecret', name, box, by, ...options });
  }
  removeSecret(name: string, by: string) {
    return this.send({ do: 'removeSecret', name, by });
  }
  giveGrants(workflow: WorkflowId, grants: readonly GivenGrant[], by: string) {
    return this.send({ do: 'giveGrants', workflow, grants, by });
  }
  takeGrant(workflow: WorkflowId, connection: string, method: string, by: string) {
    return this.send({ do: 'takeGrant', workflow, connection, method, by });
  }
  askPermission(workflow: WorkflowId, script: ScriptId, asks: string, by: string) {
    return this.send({ do: 'askPermission', workflow, script, asks, by });
  }
  answerPermission(request: PermissionRequestId, answer: 'allowed' | 'refused', by: string) {
    return this.send({ do: 'answerPermission', request, answer, by });
  }
  recordAct(act: string, subject: string, by: string, detail?: string) {
    return this.send({ do: 'recordAct', act, subject, by, detail });
  }
  openNotices(caseKey: string, channels: readonly string[]) {
    return this.send({ do: 'openNotices', caseKey, channels });
  }
  settleNotice(notice: NoticeId, options: Options<'settleNotice', 'notice'>) {
    return this.send({ do: 'settleNotice', notice, ...options });
  }

  // what is old
  pruneHistory(workflow: WorkflowId, options: Options<'pruneHistory', 'workflow'>) {
    return this.send({ do: 'pruneHistory', workflow, ...options });
  }

  // from another engine
  importWorkflow(rows: ImportedRows, options: Options<'importWorkflow', 'rows'>) {
    return this.send({ do: 'importWorkflow', rows, ...options });
  }

  // repairs
  createMaintenanceTask(workflow: WorkflowId) {
    return this.send({ do: 'createMaintenanceTask', workflow });
  }
  exitMaintenanceMode(workflow: WorkflowId, by: string, repaired: boolean) {
    return this.send({ do: 'exitMaintenanceMode', workflow, by, repaired });
  }
}
