import type { WorkflowId } from '#base';
import type { Draft } from '../draft.ts';

/** What a version asked for before another came is asked for no longer: nobody is to answer a question that has no meaning any more. */
export function overtakeRequests(draft: Draft, workflow: WorkflowId, by: string): void {
  for (const { id } of draft.find('openRequests', workflow)) {
    draft.write({ set: 'permission.answered', request: id, answer: 'replaced', at: draft.now, by });
  }
}
