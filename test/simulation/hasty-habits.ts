import type { WorkflowId } from '#base';
import { PeekHabits } from '#handler';

type Page = Parameters<PeekHabits['asked']>[1];
type Whose = Parameters<PeekHabits['allOf']>[0];

/** Takes once for always: histories are short, and what is prepared ahead is to be in them, rightly and wrongly expected. */
export class HastyHabits extends PeekHabits {
  override asked(workflow: WorkflowId, page: Page): void {
    super.asked(workflow, page);
    super.asked(workflow, page);
  }

  override allOf({ workflowId }: Whose): Page | undefined {
    return this.expected(workflowId);
  }

  override wasAll(whose: Whose, _isAll: boolean): void {
    super.wasAll(whose, true);
  }
}
