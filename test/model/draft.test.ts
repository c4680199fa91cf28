import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import { Draft, type LookupName, type Lookups, Rows, type Source, type Workflow } from '#model';
import { countedIds, deploy, PERSON } from '../support/fixture.ts';
import { sourceOf } from '../support/memory-store.ts';
import { preparing, stop } from '../support/stage.ts';
import { inWorld } from '../support/world.ts';

// What one command sees: each question is asked of the store once, and a rule sees its own writes.

async function rowsOfAWorld(): Promise<Rows> {
  let rows = new Rows();
  await inWorld('memory', async (world) => {
    const stage = await preparing(world);
    await stop(world, stage, 'failed:logic');
    await world.manager.createMaintenanceTask(stage.workflow);
    await world.manager.cureConnection('shop', PERSON);
    await world.manager.acceptDelivery(stage.workflow, { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '' });
    await deploy(world.manager, 'other');
    rows = world.rows.copy();
  });
  return rows;
}

/** Counts what is asked of the store. */
function counting(source: Source): { source: Source; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    source: {
      fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']) {
        asked.push(`${name} ${by.join(' ')}`);
        return source.fetch(name, ...by);
      },
    },
  };
}

test('a question is asked of the store once, and a row by its id not at all when it is here', async () => {
  const { source, asked } = counting(sourceOf(await rowsOfAWorld()));
  const draft = new Draft(0, countedIds(), source);
  const workflow = 'wf_00001' as WorkflowId;
  assert.equal(draft.one('workflow', workflow)?.name, 'orders');
  assert.equal(draft.one('workflow', workflow)?.name, 'orders');
  assert.deepEqual(draft.find('openTasks', workflow), draft.find('openTasks', workflow));
  assert.deepEqual(asked, ['workflow wf_00001', 'openTasks wf_00001']);
});

test('a row that is missing is missing, also the second time', async () => {
  const { source, asked } = counting(sourceOf(await rowsOfAWorld()));
  const draft = new Draft(0, countedIds(), source);
  const nobody = 'wf_99999' as WorkflowId;
  assert.equal(draft.one('workflow', nobody), undefined);
  assert.equal(draft.one('workflow', nobody), undefined);
  assert.equal(asked.length, 1);
});

test('two questions that read alike are two', async () => {
  const { source, asked } = counting(sourceOf(await rowsOfAWorld()));
  const draft = new Draft(0, countedIds(), source);
  const workflow = 'wf_00001' as WorkflowId;
  draft.find('eventKeyed', workflow, 'a b', 'c');
  draft.find('eventKeyed', workflow, 'a', 'b c');
  assert.equal(asked.length, 2);
});

test('a rule sees its own writes, and the store sees none', async () => {
  const rows = await rowsOfAWorld();
  const draft = new Draft(0, countedIds(), sourceOf(rows));
  const workflow = 'wf_00001' as WorkflowId;
  assert.equal(draft.one('workflow', workflow)?.quiet, false);
  draft.write({ set: 'workflow.quiet', workflow, quiet: true });
  assert.equal(draft.one('workflow', workflow)?.quiet, true);
  assert.equal(rows.workflows.get(workflow)?.quiet, false);
  assert.deepEqual(draft.writes, [{ set: 'workflow.quiet', workflow, quiet: true }]);
});

test('a write to a row in another state is a bug, and so is one to a row nobody read', async () => {
  const draft = new Draft(0, countedIds(), sourceOf(await rowsOfAWorld()));
  const workflow = 'wf_00001' as WorkflowId;
  const write = { set: 'workflow.seq', workflow, from: 99, to: 100 } as const;
  assert.throws(() => draft.write(write), /wf_00001 is not here/);
  draft.one('workflow', workflow);
  assert.throws(() => draft.write(write), /not in the state a write expects/);
});

test('a lookup for one row that finds two is a bug', async () => {
  const rows = await rowsOfAWorld();
  const twin = { ...(rows.workflows.get('wf_00001') as Workflow), id: 'wf_00009' as WorkflowId };
  rows.workflows.put(twin.id, twin);
  const draft = new Draft(0, countedIds(), null, rows);
  assert.throws(() => draft.one('workflowNamed', 'orders'), /names 2 rows/);
});

test('lookups that only readers ask have an answer too', async () => {
  const rows = await rowsOfAWorld();
  const draft = new Draft(0, countedIds(), null, rows);
  const [task] = rows.tasks.values();
  const [delivery] = rows.deliveries.values();
  assert.ok(task && delivery);
  assert.deepEqual(draft.find('task', task.id), [task]);
  assert.deepEqual(draft.find('connection', 'shop'), [
    { name: 'shop', version: 1, refusedAt: null, refusedReason: null },
  ]);
  assert.deepEqual(draft.find('oldestDelivery', task.workflowId), [delivery]);
});

test('copies of rows share nothing that either of them writes', async () => {
  const rows = await rowsOfAWorld();
  const copy = rows.copy();
  rows.messages.delete('msg_00001');
  assert.ok(copy.messages.get('msg_00001'));
  copy.workflows.delete('wf_00001');
  assert.ok(rows.workflows.get('wf_00001'));
});
