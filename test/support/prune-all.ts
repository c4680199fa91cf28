import type { WorkflowId } from '#base';
import type { Pruned } from '#model';
import type { World } from './world.ts';

/** Everything of a workflow is named, latest first, as by somebody who looks for old rows: what may go goes. */
export async function pruneAll(world: World, workflow: WorkflowId, before = world.clock.now()): Promise<Pruned> {
  const { rows } = world;
  const ofIt = (row: { readonly workflowId: string }) => row.workflowId === workflow;
  for (const { id } of rows.messages.matching(ofIt)) await world.manager.deleteMessage(id);
  const latestFirst = <I extends string>(found: readonly { readonly id: I }[]): I[] =>
    found.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1));
  return world.manager.pruneHistory(workflow, {
    before,
    runs: latestFirst(rows.runs.matching((run) => ofIt(run) && run.rootRunId === run.id)),
    events: latestFirst(rows.events.matching(ofIt)),
    sessions: latestFirst(rows.sessions.matching(ofIt)),
    executions: latestFirst(rows.executions.matching(ofIt)),
    inputs: latestFirst(rows.inputs.matching(ofIt)),
  });
}
