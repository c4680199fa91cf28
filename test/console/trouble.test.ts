import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders } from '../e2e/scripts.ts';
import { Visitor } from './visitor.ts';

const POISON = "if (e.payload.id === 'poison') throw new Error('cannot read this order');";

/** The script stumbles over one of its events, before anything went out. */
async function broken(t: TestContext) {
  const engine = await EngineUnderTest.open(t);
  await engine.deploy(orders());
  const { workflow } = await engine.deploy(orders({ prepare: POISON }));
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  await engine.publish(workflow, 'placed', { id: 'poison' }, { id: 'o2' });
  await visitor.sees(/^Needs a repair: book failed: .*cannot read this order/);
  return { engine, visitor };
}

test('a repair shows the code at fault and the events it had looked at; putting the event aside lets the others go on', async (t) => {
  const { engine, visitor } = await broken(t);
  const { page } = visitor;
  await visitor.sees(/workflow\.ts, line \d+, column \d+/);
  assert.match(await page.locator('.code-line[data-here]').innerText(), /throw new Error\('cannot read this order'\)/);
  await visitor.sees('Whether the script or one of the events is at fault.');
  await page.getByRole('link', { name: 'placed poison' }).waitFor();
  await visitor.button('Put the event aside').click();
  await visitor.sees('Nothing needs you');
  await engine.until('the other is done', () => engine.events('placed').includes('o2 consumed'));
  assert.deepEqual(engine.events('placed'), ['poison parked', 'o2 consumed']);
  assert.deepEqual(engine.outside.done, ['/bookings o2']);
});

test('of several events that it had looked at, those are put aside that are chosen', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const many =
    "for (const each of await ctx.peek('placed', { limit: 3 })) if (each.payload.id === 'poison') throw new Error('odd');";
  const { workflow } = await engine.deploy(orders({ prepare: many }));
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  const { page } = visitor;
  await engine.publish(workflow, 'placed', { id: 'o1' }, { id: 'poison' }, { id: 'o3' });
  await visitor.button('Put events aside').click();
  await visitor.button('Choose none').click();
  await visitor.sees('Choose at least one.');
  assert.equal(await visitor.button('Yes: put events aside').isDisabled(), true);
  await page.getByRole('checkbox', { name: 'placed poison' }).check();
  await visitor.button('Yes: put events aside').click();
  await engine.until('it is aside', () => engine.events('placed').includes('poison parked'));
  await visitor.button('Try again').click();
  await visitor.sees('Nothing needs you');
  await engine.until('the others are done', () => engine.events('placed').includes('o3 consumed'));
  assert.deepEqual(engine.events('placed'), ['o1 consumed', 'poison parked', 'o3 consumed']);
});

test('a repair ends when the event is skipped, and when one goes back to the version before', async (t) => {
  const { engine, visitor } = await broken(t);
  await visitor.choose('Go back to version 1.0');
  await visitor.sees('Nothing needs you');
  await engine.until('both are done', () => engine.events('placed').every((each) => each.endsWith('consumed')));
  assert.deepEqual(engine.outside.done, ['/bookings poison', '/bookings o2']);
  const skipped = await broken(t);
  await skipped.visitor.choose('Skip the event');
  await skipped.engine.until('the other is done', () => skipped.engine.events('placed').includes('o2 consumed'));
  assert.deepEqual(skipped.engine.events('placed'), ['poison skipped', 'o2 consumed']);
});

test('when next cannot be mended, its run is finished without it; the run shows the boundary it is past', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders({ next: "throw new Error('a bug in next');" }));
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await visitor.sees(/book failed after its call was made/);
  await visitor.button('Try again').click();
  await engine.until('it failed again', () => engine.reader.table('handler_runs').length === 2);
  await visitor.sees('Its POST to shop is done, and is not made again.');
  await visitor.page.getByRole('link', { name: 'The run of book' }).click();
  await visitor.seesTitle('book, attempt 2');
  await visitor.sees(/It is past the boundary: the call is done and never made again/);
  await visitor.sees('as before');
  assert.equal(await visitor.page.locator('.timeline tbody tr').count(), 2);
  await visitor.go('/needs');
  await visitor.choose('Finish without next');
  await visitor.sees('Nothing needs you');
  assert.deepEqual(engine.events('placed'), ['o1 consumed']);
  assert.deepEqual(engine.outside.done, ['/bookings o1']);
});

test('a refused connection is one card for all its workflows, and a good test lets all go on', async (t) => {
  const engine = await EngineUnderTest.open(t, {
    shop: { auth: { bearer: { secret: 'shop-token' } }, testPath: '/ping' },
  });
  const { outside } = engine;
  outside.pages.set('/ping', {});
  outside.bearer = 'good';
  const secret = join(engine.data, 'secrets', 'shop-token');
  mkdirSync(dirname(secret));
  writeFileSync(secret, 'bad');
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  for (const name of ['orders', 'returns']) {
    const { workflow } = await engine.deploy(orders({ name }));
    await engine.publish(workflow, 'placed', { id: name });
  }
  await visitor.sees('2 workflows');
  await visitor.sees(/whose credentials were refused/);
  assert.equal(await visitor.page.getByRole('article').count(), 1);
  // The first answer, before the secret is mended: else this very test would find the good one.
  const answered = visitor.page.waitForResponse((response) => response.url().endsWith('/test'));
  await visitor.button('Test it').click();
  await (await answered).finished();
  await visitor.sees(/refused|401/);
  assert.equal(await visitor.page.getByRole('article').count(), 1);
  writeFileSync(secret, 'good');
  await visitor.button('Test it').click();
  await visitor.sees('Nothing needs you');
  await engine.until('both are done', () => outside.effects.length === 2);
});
