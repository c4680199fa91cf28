import assert from 'node:assert/strict';
import type { WorkerId, WorkflowId } from '#base';
import type { ImportedRows, Table } from '#model';
import { SCRIPT, script, workflow } from '../store/rows.ts';
import { inWorld, type World } from './world.ts';

/** A workflow of another engine, with a version and no history. */
export const IMPORTED: ImportedRows = {
  workflow: workflow({ activeScriptId: SCRIPT }),
  scripts: [{ row: script(), code: 'export default {}', manifest: '{}' }],
  executions: [],
  enforcements: [],
  sessions: [],
  deliveries: [],
  runs: [],
  events: [],
  mutations: [],
  evidence: [],
  inputs: [],
  eventInputs: [],
  handlerStates: [],
  tasks: [],
  runLogs: [],
  runReads: [],
  prunedEvents: [],
  prunedDeliveries: [],
};

/** Everything of a workflow, as another engine would be handed it. */
export function importedFrom({ rows }: Pick<World, 'rows'>, id: WorkflowId): ImportedRows {
  const workflow = rows.workflows.get(id);
  assert.ok(workflow);
  const ofIt = <R extends { readonly workflowId: string }>(table: Table<R>) =>
    table.matching((row) => row.workflowId === id);
  const runs = ofIt(rows.runs);
  const ofRuns = <R extends { readonly runId: string }>(table: Table<R>) =>
    table.matching((row) => runs.some((run) => run.id === row.runId));
  return {
    workflow,
    scripts: ofIt(rows.scripts).map((row) => ({ row, code: 'export default {}', manifest: '{}' })),
    executions: ofIt(rows.executions),
    enforcements: ofIt(rows.enforcements),
    sessions: ofIt(rows.sessions),
    deliveries: ofIt(rows.deliveries),
    runs,
    events: ofIt(rows.events),
    mutations: ofIt(rows.mutations),
    evidence: rows.evidence.values(),
    inputs: ofIt(rows.inputs),
    eventInputs: rows.eventInputs.values(),
    handlerStates: ofIt(rows.handlerStates),
    tasks: ofIt(rows.tasks),
    runLogs: ofRuns(rows.runLogs),
    runReads: ofRuns(rows.runReads),
    prunedEvents: ofIt(rows.prunedEvents),
    prunedDeliveries: ofIt(rows.prunedDeliveries),
  };
}

const ELSEWHERE = 'wrk_elsewhere' as WorkerId;

/** What another engine has of a workflow, after this story. */
export async function rowsElsewhere(story: (world: World) => Promise<WorkflowId>): Promise<ImportedRows> {
  let rows: ImportedRows | undefined;
  await inWorld('memory', async (world) => {
    // Ids of two engines differ; these are counted, so one of them begins elsewhere.
    for (const kind of ['worker', 'workflow', 'script', 'run', 'event', 'execution', 'session', 'mutation'] as const)
      for (let i = 0; i < 100; i++) world.ids.next(kind);
    rows = importedFrom(world, await story(world));
  });
  assert.ok(rows);
  // Processes of two engines have ids of their own too.
  const executions = rows.executions.map((row) => ({ ...row, owner: row.owner && ELSEWHERE }));
  return { ...rows, executions };
}
