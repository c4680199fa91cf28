import type { Workflow } from '#model';
import type { Teller } from './teller.ts';

/** Events that a consumer will look at. What lies in a topic that nobody reads waits for nothing. */
export async function pendingOf(
  { history }: Pick<Teller, 'history'>,
  workflow: Workflow,
  max: number,
): Promise<number> {
  const [script] = workflow.activeScriptId === null ? [] : await history.fetch('script', workflow.activeScriptId);
  const topics = script?.handlers.consumers.flatMap((consumer) => consumer.subscribe) ?? [];
  let pending = 0;
  for (const topic of topics) pending += await history.countPending(workflow.id, topic, max - pending);
  return pending;
}
