import type { CommandName, CommandOf, ReplyTo } from './command.ts';
import { acceptDelivery } from './decide/accept-delivery.ts';
import { activateScript } from './decide/activate-script.ts';
import { addScript } from './decide/add-script.ts';
import { advanceSession } from './decide/advance-session.ts';
import { answerPermission } from './decide/answer-permission.ts';
import { approveCall } from './decide/approve-call.ts';
import { approveGrant } from './decide/approve-grant.ts';
import { archiveWorkflow } from './decide/archive-workflow.ts';
import { askPermission } from './decide/ask-permission.ts';
import { beginDraining } from './decide/begin-draining.ts';
import { beginScheduling } from './decide/begin-scheduling.ts';
import { cancelExecution } from './decide/cancel-execution.ts';
import { checkAgain } from './decide/check-again.ts';
import { claimExecution } from './decide/claim-execution.ts';
import { claimReconcile } from './decide/claim-reconcile.ts';
import { commitConsumer } from './decide/commit-consumer.ts';
import { commitProducer } from './decide/commit-producer.ts';
import { cordonWorker } from './decide/cordon-worker.ts';
import { createMaintenanceTask } from './decide/create-maintenance-task.ts';
import { createRetryRun } from './decide/create-retry-run.ts';
import { createToken } from './decide/create-token.ts';
import { createWorkflow } from './decide/create-workflow.ts';
import { cureConnection } from './decide/cure-connection.ts';
import { deleteMessage } from './decide/delete-message.ts';
import { drainWorker } from './decide/drain-worker.ts';
import { endWorker } from './decide/end-worker.ts';
import { exitMaintenanceMode } from './decide/exit-maintenance-mode.ts';
import { expireCall } from './decide/expire-call.ts';
import { finishSession } from './decide/finish-session.ts';
import { finishWithoutNext } from './decide/finish-without-next.ts';
import { giveGrants } from './decide/give-grants.ts';
import { handOff } from './decide/hand-off.ts';
import { holdWorkflow } from './decide/hold-workflow.ts';
import { importWorkflow } from './decide/import-workflow.ts';
import { keepRecords } from './decide/keep-records.ts';
import { noteLacks } from './decide/note-lacks.ts';
import { openNotices } from './decide/open-notices.ts';
import { parkEvents } from './decide/park-events.ts';
import { pauseWorkflow } from './decide/pause-workflow.ts';
import { postponeReconcile } from './decide/postpone-reconcile.ts';
import { pruneHistory } from './decide/prune-history.ts';
import { publishEvents } from './decide/publish-events.ts';
import { reapExecution } from './decide/reap-execution.ts';
import { recordAct } from './decide/record-act.ts';
import { recordEvidence } from './decide/record-evidence.ts';
import { redoEvents } from './decide/redo-events.ts';
import { registerWorker } from './decide/register-worker.ts';
import { rejectCall } from './decide/reject-call.ts';
import { removeSecret } from './decide/remove-secret.ts';
import { renewWorker } from './decide/renew-worker.ts';
import { requestExecution } from './decide/request-execution.ts';
import { resumeWorkflow } from './decide/resume-workflow.ts';
import { revokeToken } from './decide/revoke-token.ts';
import { scheduleDue } from './decide/schedule-due.ts';
import { setAside } from './decide/set-aside.ts';
import { setHandlerState } from './decide/set-handler-state.ts';
import { setLimit } from './decide/set-limit.ts';
import { setSecret } from './decide/set-secret.ts';
import { settleNotice } from './decide/settle-notice.ts';
import { skipDelivery } from './decide/skip-delivery.ts';
import { skipEvents } from './decide/skip-events.ts';
import { skipMutation } from './decide/skip-mutation.ts';
import { startMutation } from './decide/start-mutation.ts';
import { startRun } from './decide/start-run.ts';
import { sweepScheduling } from './decide/sweep-scheduling.ts';
import { takeGrant } from './decide/take-grant.ts';
import { uncordonWorker } from './decide/uncordon-worker.ts';
import { unparkEvents } from './decide/unpark-events.ts';
import { updateConsumerPhase } from './decide/update-consumer-phase.ts';
import { updateHandlerRunStatus } from './decide/update-handler-run-status.ts';
import { updateMutationResult } from './decide/update-mutation-result.ts';
import type { Draft } from './draft.ts';

/** One rule a command. Each is pure: it reads the draft, writes to the draft, or throws a refusal; no clock, no I/O, no await. */
const RULES: { readonly [N in CommandName]: (draft: Draft, command: CommandOf<N>) => ReplyTo<N> } = {
  startRun,
  advanceSession,
  createRetryRun,
  updateConsumerPhase,
  startMutation,
  updateMutationResult,
  updateHandlerRunStatus,
  commitConsumer,
  commitProducer,
  keepRecords,
  finishSession,
  requestExecution,
  scheduleDue,
  beginScheduling,
  setLimit,
  handOff,
  sweepScheduling,
  claimExecution,
  cancelExecution,
  reapExecution,
  registerWorker,
  renewWorker,
  noteLacks,
  cordonWorker,
  uncordonWorker,
  drainWorker,
  beginDraining,
  endWorker,
  deleteMessage,
  claimReconcile,
  postponeReconcile,
  recordEvidence,
  createWorkflow,
  addScript,
  activateScript,
  approveGrant,
  pauseWorkflow,
  resumeWorkflow,
  archiveWorkflow,
  holdWorkflow,
  publishEvents,
  acceptDelivery,
  skipEvents,
  skipDelivery,
  parkEvents,
  unparkEvents,
  redoEvents,
  skipMutation,
  checkAgain,
  setAside,
  approveCall,
  rejectCall,
  expireCall,
  finishWithoutNext,
  setHandlerState,
  cureConnection,
  createToken,
  revokeToken,
  setSecret,
  removeSecret,
  giveGrants,
  takeGrant,
  askPermission,
  answerPermission,
  recordAct,
  openNotices,
  settleNotice,
  pruneHistory,
  importWorkflow,
  createMaintenanceTask,
  exitMaintenanceMode,
};

export function decide<N extends CommandName>(draft: Draft, command: CommandOf<N>): ReplyTo<N> {
  const rule = RULES[command.do] as (draft: Draft, command: CommandOf<N>) => ReplyTo<N>;
  return rule(draft, command);
}
