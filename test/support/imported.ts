import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import type { ImportedRows, Table } from '#model';
import { SCRIPT, script, workflow } from '../store/rows.ts';
import type { World } from './world.ts';

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
