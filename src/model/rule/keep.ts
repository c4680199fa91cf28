import { sha256, type WorkflowId } from '#base';
import type { Draft } from '../draft.ts';
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN, RETRY_AFTER_MS_MAX } from '../limits.ts';
import type { HandlerState, Run } from '../rows.ts';

/** What the engine keeps for a handler; a handler that never ran has the blank one. */
export function keptState(draft: Draft, workflow: WorkflowId, handlerName: string): HandlerState {
  const kept = draft.find('handlerStates', workflow).find((state) => state.handlerName === handlerName);
  return kept ?? { ...BLANK, workflowId: workflow, handlerName };
}

export function keep(draft: Draft, before: HandlerState, change: Partial<HandlerState>): void {
  const changed = (Object.keys(change) as (keyof HandlerState)[]).some((field) => before[field] !== change[field]);
  if (changed) draft.write({ set: 'handler.kept', row: { ...before, ...change } });
}

/** A commit ends every count of troubles. */
export const NO_TROUBLE = {
  backoffUntil: null,
  transientSince: null,
  transientCount: 0,
  repaired: false,
  failedRepairs: 0,
  crashCount: 0,
  crashEventId: null,
} as const satisfies Partial<HandlerState>;

const BLANK: Omit<HandlerState, 'workflowId' | 'handlerName'> = {
  ...NO_TROUBLE,
  state: null,
  nextAt: null,
  wakeAt: null,
  restedSeq: null,
};

/** 1 s doubling to 15 min. The jitter comes from the run's id, so that the same decision gives the same time. */
export function backoffMs(run: Run, count: number, retryAfterMs: number): number {
  const doubled = Math.min(BACKOFF_MS_MIN * 2 ** Math.min(count, 30), BACKOFF_MS_MAX);
  const unit = Number.parseInt(sha256(run.id).slice(0, 8), 16) / 0xffff_ffff;
  const jittered = Math.round(doubled * (0.75 + unit / 4));
  // It comes from a header: what is no number asks for nothing.
  const asked = retryAfterMs > 0 ? Math.ceil(Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)) : 0;
  return Math.max(jittered, asked);
}
