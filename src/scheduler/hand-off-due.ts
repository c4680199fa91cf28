import { RefusedError, type WorkflowId } from '#base';
import type { Engine } from '#execution';

/**
 * The executor's whole part, in one commit: what is due is requested, scheduled and handed off. From there on it is a worker's.
 * Undefined when nothing is due.
 */
export async function handOffDue(
  { manager }: Pick<Engine, 'manager'>,
  workflow: WorkflowId,
  slots: readonly string[],
): Promise<'handled' | undefined> {
  try {
    return await manager.together((model) => {
      const due = model.scheduleDue(workflow);
      if (!('execution' in due)) return undefined;
      // Where there is no room it is written that it waits, and for what.
      if ('until' in model.beginScheduling(due.execution, slots)) model.handOff(due.execution);
      return 'handled';
    });
  } catch (error) {
    // Another executor was faster, or something holds the workflow: its row says when to look again.
    if (!(error instanceof RefusedError)) throw error;
    return 'handled';
  }
}
