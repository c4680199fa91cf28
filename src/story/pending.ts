import type { Workflow } from '#model';
import type { Teller } from './teller.ts';

/** Events that a consumer will look at. What lies in a topic that nobody reads waits for nothing. */
export function pendingOf({ history }: Pick<Teller, 'history'>, workflow: Workflow, max: number): number {
  const [script] = workflow.activeScriptId === null ? [] : history.fetch('script', workflow.activeScriptId);
  const topics = script?.handlers.consumers.flatMap((consumer) => consumer.subscribe) ?? [];
  let pending = 0;
  for (const topic of topics) pending += history.countPending(workflow.id, topic, max - pending);
  return pending;
}
