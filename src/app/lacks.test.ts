import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConnections } from '#connector';
import { ScriptShelf } from '#handler';
import { orders } from '../../test/e2e/scripts.ts';
import { Stage } from '../../test/e2e/stage.ts';
import type { Locked } from './key-warnings.ts';
import { Lacks, type LacksOptions } from './lacks.ts';

const WITHOUT = `export default defineWorkflow({ name: 'orders', uses: {}, topics: { placed: topic<{ id: string }>() } })
  .consumer('book', { subscribe: ['placed'], async prepare(ctx) { return ctx.idle(); } });`;
const SHOP = { type: 'http', baseUrl: 'http://127.0.0.1:9', auth: { bearer: { secret: 'token' } } };
const LOCKED: Locked = { name: 'token', error: new Error('the secret "token" cannot be opened: no key') };

/** A worker of this engine's tables, with a config and a key of its own. */
function lacksOf(stage: Stage, connections: object, more: Partial<LacksOptions> = {}) {
  const { engine } = stage.app;
  const said: string[] = [];
  const book = { type: 'files', root: stage.folder };
  const lacks = new Lacks({
    ...{
      engine,
      connections: openConnections({ connections: { book, ...connections } }),
      scripts: new ScriptShelf(engine.reader),
    },
    ...{ name: 'odd', isOurs: () => true, lockedSecrets: async () => [], locked: [] },
    onWarning: (text) => said.push(text),
    onNews: (text) => said.push(text),
    onError: (error) => stage.errors.push(error),
    ...more,
  });
  const kept = () => stage.reader.table('workers').find(({ id }) => id === engine.self)?.lacks ?? [];
  return { lacks, said, kept };
}

test('a worker says once what it lacks, and takes a version that needs less', async (t) => {
  const stage = await Stage.open(t);
  const { workflow, script } = await stage.deploy(orders());
  const { lacks, said, kept } = lacksOf(stage, {});
  t.after(() => lacks.close());
  lacks.start();
  await stage.until('its row says so', () => kept().length > 0);
  const why = 'has no connection "shop" in its config';
  assert.deepEqual(kept(), [{ workflow: 'orders', connection: 'shop', why }]);
  for (let i = 0; i < 3; i++) assert.equal(await lacks.canTake({ workflow, script }), false);
  assert.equal(await lacks.canTake({ workflow }), false, 'as it was last');
  assert.deepEqual([lacks.leaves(workflow), lacks.canAsk('shop')], [true, false]);
  assert.deepEqual(said, [`this worker ${why}: it takes nothing of orders, and leaves it to others`]);

  const less = await stage.deploy(WITHOUT, { skipPending: true });
  assert.equal(await lacks.canTake({ workflow, script: less.script }), true);
  await stage.until('its row says nothing of it', () => kept().length === 0);
  assert.deepEqual(said.slice(1), ['this worker has all that orders uses now, and takes it again']);
});

test('a connection of another type is none', async (t) => {
  const stage = await Stage.open(t);
  const { workflow, script } = await stage.deploy(orders());
  const { lacks, said } = lacksOf(stage, { shop: { type: 'files', root: stage.folder } });
  t.after(() => lacks.close());
  assert.equal(await lacks.canTake({ workflow, script }), false);
  assert.match(said[0] ?? '', /has another connection "shop" in its config, of type files and not http/);
});

test('what a run meets is looked at anew, and so is a key that is back', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders());
  let locked: readonly Locked[] = [];
  const { lacks, kept } = lacksOf(stage, { shop: SHOP }, { lockedSecrets: async () => locked });
  t.after(() => lacks.close());
  assert.deepEqual([await lacks.canTake({ workflow }), lacks.canAsk('shop')], [true, true]);
  locked = [LOCKED];
  assert.equal(lacks.met(), 'odd');
  await stage.until('its row says so', () => kept().length > 0);
  assert.equal(kept()[0]?.why, 'cannot open the secret "token" of connection "shop": no key');
  assert.deepEqual([await lacks.canTake({ workflow }), lacks.canAsk('shop')], [false, false]);
  locked = [];
  lacks.met();
  await stage.until('its row says nothing of it', () => kept().length === 0);
  assert.equal(await lacks.canTake({ workflow }), true);
});
