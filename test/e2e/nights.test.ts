// Six nights at 3 am. Whoever is woken knows nothing but `pawl status`: every command typed here is one that it printed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineUnderTest } from './engine.ts';
import type { Keyboard } from './keyboard.ts';
import { orders } from './scripts.ts';
import { Stage } from './stage.ts';

/** Half asleep: reads what `pawl status` prints, and types what it says. */
class Sleeper {
  readonly #keyboard: Keyboard;

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  look(): Promise<string> {
    return this.#keyboard.ok('status');
  }

  /** Types the one command of those printed that fits. */
  async follow(suggestion: RegExp): Promise<string> {
    const status = await this.look();
    const commands = [...status.matchAll(/^ {2}next: (pawl .*?)(?: {3}\((.*)\))?$/gm)];
    const [found, ...others] = new Set(commands.filter(([line]) => suggestion.test(line)).map(([, typed]) => typed));
    assert.ok(found, `status suggests nothing like ${suggestion}:\n${status}`);
    assert.deepEqual(others, [], `status suggests several:\n${status}`);
    assert.doesNotMatch(found, /['"]/, 'it can be typed as it is');
    return this.#keyboard.ok(...found.split(' ').slice(1));
  }
}

/** A provider's answer that nobody heard may be missing: then there is none. */
const GUARDED =
  "if (r.status === 'applied' && r.result === null) { ctx.publish('booked', { messageId: data.id, payload: { ref: '' } }); return; }";

test('an uncertain call: status asks, and the answer is one command', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const sleeper = new Sleeper(engine.keyboard);
  engine.outside.behave({ after: 'drop' });
  await engine.deploy(orders({ next: GUARDED }));
  await engine.publish('orders', 'placed', { id: '1' }, { id: '2' });
  await engine.until('nobody knows', () => engine.runs()[0] === 'book mutating paused:reconciliation');
  const status = await sleeper.look();
  assert.match(status, /orders: waiting for you to say whether one POST to shop \(Book 1\) happened/);
  assert.match(status, /since: \d\d:\d\d:\d\d/);
  assert.match(status, /blocks: 1\b/);
  await sleeper.follow(/--happened/);
  await engine.quiet();
  assert.deepEqual(engine.outside.done, ['/bookings 1', '/bookings 2']);
  assert.deepEqual(engine.events('placed'), ['1 consumed', '2 consumed']);
  assert.match(await sleeper.look(), /orders: idle/);
});

test('refused credentials that five workflows share: the secret is renewed once, and one command lets all go on', async (t) => {
  const stage = await Stage.atKeyboard(t, { auth: { bearer: { secret: 'token' } } });
  const sleeper = new Sleeper(stage.keyboard);
  stage.secret = 'expired';
  stage.outside.bearer = 'renewed';
  stage.outside.pages.set('/', {});
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const { workflow } = await stage.deploy(orders({ name }));
    await stage.publish(workflow, 'placed', { id: name });
  }
  await stage.until('all wait', () =>
    stage.reader.table('workflows').every((each) => each.holds.includes('connection')),
  );
  const status = await sleeper.look();
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    assert.match(status, new RegExp(`^${name}: waiting for connection shop, whose credentials were refused`, 'm'));
  }
  assert.match(status, /5 workflows wait for it/);
  stage.secret = 'renewed';
  await sleeper.follow(/connections test/);
  await stage.quiet();
  assert.deepEqual(
    stage.outside.done.toSorted(),
    ['a', 'b', 'c', 'd', 'e'].map((name) => `/bookings ${name}`),
  );
});

test('a bug in next after the mutation: the run is finished without it, and nothing is sent twice', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const sleeper = new Sleeper(stage.keyboard);
  const { workflow } = await stage.deploy(
    orders({ next: "if (data.id === '1') throw new Error('cannot read properties of undefined');" }),
  );
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.until('it fails', () => stage.runs()[0] === 'book emitting failed:logic');
  const status = await sleeper.look();
  assert.match(
    status,
    /needs a repair: book failed after its call was made: .*cannot read properties.*workflow\.ts:\d+/,
  );
  assert.doesNotMatch(status, /pawl (skip|park)/, 'the effect has happened: its event cannot be left out');
  await sleeper.follow(/pawl finish/);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 consumed']);
});

test('a poison event in prepare: it is put aside by name, and the others go on', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const sleeper = new Sleeper(stage.keyboard);
  const { workflow } = await stage.deploy(
    orders({ prepare: "if (e.payload.id === 'poison') throw new Error('no such order');" }),
  );
  await stage.publish(workflow, 'placed', { id: 'poison' }, { id: '2' });
  await stage.until('it fails', () => stage.runs()[0] === 'book preparing failed:logic');
  assert.match(await sleeper.look(), /orders: needs a repair: book failed: .*no such order/);
  await sleeper.follow(/pawl park .*poison/);
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['poison parked', '2 consumed']);
  assert.deepEqual(stage.outside.done, ['/bookings 2']);
  assert.match(await sleeper.look(), /orders: .*; also 1 event put aside/, 'nobody forgets it');
});

test('10,000 events after an outage: status says what waits, and one command tries now', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const sleeper = new Sleeper(stage.keyboard);
  stage.outside.behave({ answer: 429, headers: { 'retry-after': '3600' } });
  const { workflow } = await stage.deploy(BATCHES);
  for (let from = 0; from < 10_000; from += 1_000) {
    await stage.publish(workflow, 'placed', ...Array.from({ length: 1_000 }, (_, n) => ({ id: `o${from + n}` })));
  }
  await stage.until('it waits', () => stage.runs().at(-1) === 'send mutating paused:transient');
  const status = await sleeper.look();
  assert.match(status, /orders: waiting until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d .*for shop to answer again/);
  assert.match(status, /blocks: 10,?000\b/);
  await sleeper.follow(/pawl trigger/);
  await stage.quiet();
  const sent = stage.outside.effects.flatMap((effect) => effect.body as string[]);
  assert.equal(sent.length, 10_000);
  assert.equal(new Set(sent).size, 10_000);
  assert.match(await sleeper.look(), /orders: idle/);
});

const BATCHES = `
export default defineWorkflow({ name: 'orders', uses: { shop: 'http' }, topics: { placed: topic<{ id: string }>() } })
  .consumer('send', { subscribe: ['placed'],
    async prepare(ctx) {
      const events = await ctx.peek('placed', { limit: 1_000 });
      if (events.length === 0) return ctx.idle();
      return ctx.take(events, { data: events.map((e) => e.payload.id), title: 'Send ' + events.length + ' orders' });
    },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/batches', json: data }); },
  });
`;

test('a wrong version an hour ago: status says how to go back, and what comes next is right again', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const sleeper = new Sleeper(stage.keyboard);
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  await stage.deploy(
    orders({ mutate: "return ctx.shop.post<{ ref: string }>({ path: '/wrong', json: { id: data.id } });" }),
  );
  await stage.publish(workflow, 'placed', { id: '2' });
  await stage.quiet();
  await stage.pass(3_600_000);
  const rolledBack = await sleeper.follow(/pawl rollback .*1\.0/);
  await stage.publish(workflow, 'placed', { id: '3' });
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/wrong 2', '/bookings 3']);
  assert.match(rolledBack, /pawl outputs orders --of-version 1\.1/);
  const { items } = await stage.keyboard.json<{ items: { id: string }[] }>('outputs', 'orders', '--of-version', '1.1');
  assert.equal(items.length, 1, 'what the wrong version did');
  await stage.keyboard.ok('redo', items[0]?.id ?? '');
  await stage.quiet();
  assert.deepEqual(stage.outside.done.slice(3), ['/bookings 2']);
});
