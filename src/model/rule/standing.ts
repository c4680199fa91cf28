import type { WorkflowId } from '#base';
import type { Draft } from '../draft.ts';
import type { Workflow } from '../rows.ts';
import { HOLDS, type Hold, isLiveStatus, type WorkflowStatus } from '../states.ts';
import { workflowRow } from './find.ts';

/** The status a person sees follows from the holds, for every workflow that is live. */
export function statusOf(holds: readonly Hold[]): WorkflowStatus {
  if (holds.includes('approval') || holds.includes('connection') || holds.includes('error')) return 'error';
  return holds.length > 0 ? 'paused' : 'active';
}

export function isLive(workflow: Workflow): boolean {
  return isLiveStatus(workflow.status);
}

interface StandingChange {
  readonly put?: readonly Hold[];
  readonly lift?: readonly Hold[];
  readonly errorReason?: string;
  readonly heldConnections?: readonly string[];
  readonly grantMissing?: boolean;
  /** From ready to live. */
  readonly goLive?: boolean;
}

/** Put and lift holds, each by its own cause; `unknown`, `approval` and `connection` follow from rows and are recomputed here. */
export function changeStanding(draft: Draft, id: WorkflowId, change: StandingChange = {}): void {
  const workflow = workflowRow(draft, id);
  if (!isLive(workflow) && !change.goLive) return;
  const heldConnections = change.heldConnections ?? workflow.heldConnections;
  const grantMissing = change.grantMissing ?? workflow.grantMissing;
  const stands: Readonly<Record<Hold, boolean>> = {
    user: holds(workflow, change, 'user'),
    unknown: hasUnknown(draft, id),
    approval: grantMissing || awaitsApproval(draft, id),
    connection: heldConnections.length > 0,
    error: holds(workflow, change, 'error'),
  };
  const next = HOLDS.filter((hold) => stands[hold]);
  const errorReason = stands.error ? (change.errorReason ?? workflow.errorReason) : null;
  const to = statusOf(next);
  const same =
    to === workflow.status &&
    next.join() === workflow.holds.join() &&
    errorReason === workflow.errorReason &&
    heldConnections.join() === workflow.heldConnections.join() &&
    grantMissing === workflow.grantMissing;
  if (same) return;
  const from = workflow.status;
  draft.write({
    set: 'workflow.standing',
    workflow: id,
    from,
    to,
    holds: next,
    errorReason,
    heldConnections,
    grantMissing,
  });
}

function holds(workflow: Workflow, change: StandingChange, hold: Hold): boolean {
  if (change.put?.includes(hold)) return true;
  return workflow.holds.includes(hold) && !change.lift?.includes(hold);
}

/** `unknown` stands while a stopped run has an unknown row that is not set aside; `in_flight` is the row of an active one. */
function hasUnknown(draft: Draft, id: WorkflowId): boolean {
  return draft
    .find('openLedger', id)
    .some((row) => row.setAsideAt === null && (row.status === 'needs_reconcile' || row.status === 'indeterminate'));
}

function awaitsApproval(draft: Draft, id: WorkflowId): boolean {
  return draft.find('openLedger', id).some((row) => row.status === 'pending' && row.approvedAt === null);
}
