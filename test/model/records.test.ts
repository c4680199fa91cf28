import assert from 'node:assert/strict';
import { applied, inFlight, preparing, type Stage, stop } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// What a run said and read is kept with the transition it led to, or not at all.

const LOG = { position: 0, at: 1, message: 'hello', data: '{"n":1}' } as const;
const READ = { position: 0, at: 2, connection: 'shop', method: 'get', request: '{}', answer: '[]' } as const;

function kept(world: World) {
  return { logs: world.rows.runLogs.values(), reads: world.rows.runReads.values() };
}

function keep(world: World, { fence, run }: Stage) {
  return world.manager.keepRecords(fence, run, { logs: [LOG], reads: [READ] });
}

forEachStore('records are kept with their run', async (world) => {
  const stage = await preparing(world);
  await keep(world, stage);
  assert.deepEqual(kept(world), { logs: [{ ...LOG, runId: stage.run }], reads: [{ ...READ, runId: stage.run }] });
});

forEachStore('records of a step that is refused are not kept', async (world) => {
  const { fence, run } = await inFlight(world);
  await world.refuses('wrong-phase', () =>
    world.manager.together((model) => {
      model.keepRecords(fence, run, { logs: [LOG], reads: [READ] });
      return model.commitConsumer(fence, run);
    }),
  );
  assert.deepEqual(kept(world), { logs: [], reads: [] });
});

forEachStore('records are kept only while the run is active, and by its owner', async (world) => {
  const stage = await inFlight(world);
  await world.refuses('fenced', () => keep(world, { ...stage, fence: { ...stage.fence, epoch: 99 } }));
  await applied(world, stage);
  await world.manager.commitConsumer(stage.fence, stage.run);
  await world.refuses('not-active', () => keep(world, stage));
});

forEachStore('records may come with the stop they explain', async (world) => {
  const stage = await preparing(world);
  await world.manager.together((model) => {
    model.keepRecords(stage.fence, stage.run, { logs: [LOG], reads: [] });
    model.updateHandlerRunStatus(stage.fence, stage.run, 'failed:logic', { error: 'it broke' });
  });
  assert.equal(kept(world).logs.length, 1);
  world.is('runs', stage.run, { status: 'failed:logic' });
  await world.refuses('fenced', () => stop(world, stage, 'crashed'));
});
