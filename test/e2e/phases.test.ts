// What each phase may do and may not, as the source lists it, through the real sandbox. A script that hides what it calls from the
// validator meets the host.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stage } from './stage.ts';

interface Case {
  readonly what: string;
  /** Statements for the phase; everything before it in the run works. */
  readonly producer?: string;
  readonly prepare?: string;
  readonly mutate?: string;
  readonly next?: string;
  readonly error: RegExp;
}

const HIDE = 'const call = (o: any, name: string, ...args: any[]) => o[name](...args);';

const FORBIDDEN: readonly Case[] = [
  { what: 'prepare makes a mutation', prepare: `await call(ctx.shop, 'post', { path: '/x' });`, error: /post/ },
  {
    what: 'prepare publishes',
    prepare: `call(ctx, 'publish', 'out', { messageId: 'x', payload: 1 });`,
    error: /publish/,
  },
  {
    what: 'prepare registers an input',
    prepare: `call(ctx, 'registerInput', { source: 's', type: 't', id: '1', title: 'x' });`,
    error: /registerInput/,
  },
  { what: 'prepare peeks a topic it does not subscribe to', prepare: `await call(ctx, 'peek', 'out');`, error: /out/ },
  {
    what: 'prepare fetches by id from a topic it does not subscribe to',
    prepare: `await call(ctx, 'getByIds', 'out', ['1']);`,
    error: /out/,
  },
  {
    what: 'prepare reserves from a topic it does not subscribe to',
    prepare: `return { reservations: [{ topic: 'out', ids: ['1'] }], data: {} };`,
    error: /out/,
  },
  { what: 'prepare consumes', prepare: `await call(ctx, 'consume', 'in', ['1']);`, error: /not a function/ },
  {
    what: 'prepare calls a connection it does not use',
    prepare: `await call(ctx['koob'.split('').reverse().join('')], 'read', {});`,
    error: /read|book|undefined/,
  },
  { what: 'mutate reads', mutate: `await call(ctx.shop, 'get', { path: '/x' });`, error: /get/ },
  { what: 'mutate peeks', mutate: `await call(ctx, 'peek', 'in');`, error: /peek/ },
  { what: 'mutate fetches by id', mutate: `await call(ctx, 'getByIds', 'in', ['1']);`, error: /getByIds/ },
  {
    what: 'mutate registers an input',
    mutate: `call(ctx, 'registerInput', { source: 's', type: 't', id: '1', title: 'x' });`,
    error: /registerInput/,
  },
  {
    what: 'mutate publishes',
    mutate: `call(ctx, 'publish', 'out', { messageId: 'x', payload: 1 });`,
    error: /publish/,
  },
  { what: 'next reads', next: `await call(ctx.shop, 'get', { path: '/x' });`, error: /shop|get|undefined/ },
  {
    what: 'next makes a mutation',
    next: `await call(ctx.shop, 'post', { path: '/x' });`,
    error: /shop|post|undefined/,
  },
  { what: 'next peeks', next: `await call(ctx, 'peek', 'in');`, error: /peek/ },
  { what: 'next fetches by id', next: `await call(ctx, 'getByIds', 'in', ['1']);`, error: /getByIds/ },
  {
    what: 'next registers an input',
    next: `call(ctx, 'registerInput', { source: 's', type: 't', id: '1', title: 'x' });`,
    error: /registerInput/,
  },
  {
    what: 'next publishes to a topic it did not declare',
    next: `call(ctx, 'publish', 'in', { messageId: 'x', payload: 1 });`,
    error: /in/,
  },
  { what: 'a producer makes a mutation', producer: `await call(ctx.shop, 'post', { path: '/x' });`, error: /post/ },
  { what: 'a producer peeks', producer: `await call(ctx, 'peek', 'in');`, error: /peek/ },
  { what: 'a producer fetches by id', producer: `await call(ctx, 'getByIds', 'in', ['1']);`, error: /getByIds/ },
  {
    what: 'a producer publishes to a topic it did not declare',
    producer: `call(ctx, 'publish', 'out', { messageId: 'x', payload: 1 });`,
    error: /out/,
  },
  {
    what: 'prepare catches what it must not',
    prepare: `try { call(ctx, 'publish', 'out', { payload: 1 }); } catch {} return ctx.idle();`,
    error: /publish/,
  },
];

function script(name: string, { producer, prepare, mutate, next }: Case): string {
  return `${HIDE}
export default defineWorkflow({ name: '${name}', uses: { shop: 'http' }, topics: { in: {}, out: {} } })
  .producer('poll', { publishes: ['in'], schedule: { interval: '1h' }, async handler(ctx: any) {
    ${producer ?? ''}
    ctx.publish('in', { messageId: '1', payload: { id: '1' } });
  } })
  .consumer('work', { subscribe: ['in'], publishes: ['out'],
    async prepare(ctx: any) {
      ${prepare ?? ''}
      const [e] = await ctx.peek('in', { limit: 1 });
      return e ? ctx.take(e, { data: e.payload }) : ctx.idle();
    },
    async mutate(ctx: any) { ${mutate ?? "return ctx.shop.post({ path: '/effect', json: {} });"} },
    async next(ctx: any) { ${next ?? ''} },
  })
  .consumer('read', { subscribe: ['out'], async prepare(ctx: any) { return ctx.idle(); } });
`;
}

test('what a phase may not do ends the run as failed:logic, whatever the script catches', async (t) => {
  const stage = await Stage.open(t);
  for (const [number, forbidden] of FORBIDDEN.entries()) {
    await t.test(forbidden.what, async () => {
      const name = `case-${number}`;
      const { workflow } = await stage.deploy(script(name, forbidden));
      const failed = () =>
        stage.reader
          .table('handler_runs')
          .find((run) => run.workflowId === workflow && run.status !== 'committed' && run.status !== 'active');
      await stage.until(`${name} stops`, () => failed() !== undefined);
      assert.equal(failed()?.status, 'failed:logic');
      assert.match(failed()?.error ?? '', forbidden.error);
      assert.equal(stage.reader.fetch('workflow', workflow)[0]?.maintenance, true);
      const booked = stage.outside.effects.filter((effect) => effect.path !== '/effect');
      assert.deepEqual(booked, [], 'nothing went out');
    });
  }
});

test('what a phase may do works', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/price', { cents: 5 });
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'allowed', uses: { shop: 'http' }, topics: { in: {}, out: {}, other: {} } })
  .producer('poll', { publishes: ['in'], schedule: { interval: '1h' }, state: { seen: 0 }, async handler(ctx, state) {
    const { body } = await ctx.shop.get<{ cents: number }>({ path: '/price' });
    const inputId = ctx.registerInput({ source: 'shop', type: 'price', id: 'p1', title: 'Price' });
    ctx.publish('in', { messageId: '1', inputId, payload: body });
    ctx.log('polled', { seen: state.seen });
    return { seen: state.seen + 1 };
  } })
  .consumer('work', { subscribe: ['in'], publishes: ['out'],
    async prepare(ctx) {
      const [e] = await ctx.peek('in', { limit: 1 });
      if (!e) return ctx.idle();
      const again = await ctx.getByIds('in', [e.messageId]);
      const { body } = await ctx.shop.get<{ cents: number }>({ path: '/price' });
      ctx.log('prepared');
      return ctx.take(e, { data: { cents: body.cents, same: again.length }, title: 'Pay ' + body.cents });
    },
    async mutate(ctx, { data }) { ctx.log('about to pay'); return ctx.shop.post<{ ref: string }>({ path: '/pay', json: data }); },
    async next(ctx, { data }, r) {
      ctx.log('paid');
      ctx.publish('out', { payload: { data, status: r.status } });
    },
  })
  .consumer('read', { subscribe: ['out'], async prepare(ctx) { const e = await ctx.peek('out'); return e.length > 0 ? ctx.take(e, { data: {} }) : ctx.idle(); } });
`);
  await stage.quiet();
  assert.deepEqual(
    stage.outside.effects.map((effect) => effect.body),
    [{ cents: 5, same: 1 }],
  );
  assert.deepEqual(
    stage.reader.table('run_logs').map((log) => log.message),
    ['polled', 'prepared', 'about to pay', 'paid'],
  );
  assert.deepEqual(
    stage.reader.table('run_reads').map((read) => `${read.connection}.${read.method}`),
    ['shop.get', 'shop.get'],
  );
  const out = stage.reader.table('events').find((event) => event.topic === 'out');
  assert.match(out?.payload ?? '', /"status":"applied"/);
  assert.equal(out?.status, 'consumed');
  const causes = stage.reader.table('event_inputs');
  assert.equal(causes.length, 2, 'what next published inherits the input of what it came from');
  assert.equal(
    stage.reader.fetch('handlerStates', workflow).find((kept) => kept.handlerName === 'poll')?.state,
    '{"seen":1}',
  );
});

test('empty reservations with a result skip mutate and run next with none; idle runs neither', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'empty', uses: { shop: 'http' }, topics: { in: {}, out: {}, idle: {} } })
  .consumer('none', { subscribe: ['in'], publishes: ['out'],
    async prepare() { return { reservations: [], data: { why: 'not yet' } }; },
    async mutate(ctx) { return ctx.shop.post({ path: '/never', json: {} }); },
    async next(ctx, { data }, r) { ctx.publish('out', { messageId: 'told', payload: { data, r } }); },
  })
  .consumer('idle', { subscribe: ['idle'], publishes: ['out'],
    async prepare(ctx) { return ctx.idle({ wakeAt: Date.now() + 3_600_000 }); },
    async next(ctx) { ctx.publish('out', { messageId: 'never', payload: 1 }); },
  });
`);
  await stage.publish(workflow, 'in', { id: '1' });
  await stage.publish(workflow, 'idle', { id: '2' });
  await stage.quiet();
  assert.equal(stage.outside.effects.length, 0);
  assert.deepEqual(stage.events('out'), ['told pending']);
  assert.match(stage.reader.table('events').find((event) => event.topic === 'out')?.payload ?? '', /"status":"none"/);
  assert.deepEqual(stage.events('in'), ['1 pending']);
  const idle = stage.reader.fetch('handlerStates', workflow).find((kept) => kept.handlerName === 'idle');
  assert.ok((idle?.wakeAt ?? 0) > Date.now() + 3_000_000);
});

test('mutate without a call goes on with none, and the events are consumed all the same', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'branch', uses: { shop: 'http' }, topics: { in: topic<{ id: string; big: boolean }>(), out: {} } })
  .consumer('work', { subscribe: ['in'], publishes: ['out'],
    async prepare(ctx) { const [e] = await ctx.peek('in', { limit: 1 }); return e ? ctx.take(e, { data: e.payload }) : ctx.idle(); },
    async mutate(ctx, { data }) { if (!data.big) return; return ctx.shop.post({ path: '/big', json: data }); },
    async next(ctx, { data }, r) { ctx.publish('out', { messageId: data.id, payload: r.status }); },
  });
`);
  await stage.publish(workflow, 'in', { id: 'small' }, { id: 'big', big: true } as { id: string });
  await stage.quiet();
  assert.deepEqual(stage.events('in'), ['small consumed', 'big consumed']);
  assert.deepEqual(
    stage.reader
      .table('events')
      .filter((event) => event.topic === 'out')
      .map((event) => event.payload),
    ['"none"', '"applied"'],
  );
  assert.equal(stage.reader.table('mutations').length, 1);
});

for (const asked of ['{ limit: 100 }', 'undefined']) {
  test(`a script that asks again and again for more than a page (${asked}) is handed all there is each time`, async (t) => {
    const stage = await Stage.open(t);
    const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'many', uses: {}, topics: { in: topic<{ id: string }>() } })
  .consumer('work', { subscribe: ['in'], state: { seen: '' },
    async prepare(ctx, state) {
      const all = await ctx.peek('in', ${asked} as never);
      return all[0] ? ctx.take(all[0], { data: { seen: state.seen + all.length + ' ' } }) : ctx.idle();
    },
    async next(_ctx, { data }) { return { seen: data.seen }; },
  });
`);
    const ids = Array.from({ length: 14 }, (_, i) => ({ id: `${i}` }));
    await stage.publish(workflow, 'in', ...ids);
    await stage.quiet();
    assert.deepEqual(stage.state('work'), { seen: '14 13 12 11 10 9 8 7 6 5 4 3 2 1 ' });
  });
}

test('a script that looks at more than it may after a page that came along with it is stopped, and nothing else is', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'looks', uses: {}, topics: { in: topic<{ id: string }>() } })
  .consumer('work', { subscribe: ['in'], state: { count: 0 },
    async prepare(ctx, state) {
      const [e] = await ctx.peek('in', { limit: 1 });
      if (!e) return ctx.idle();
      if (state.count === 3) for (let i = 0; i < 12; i++) await ctx.peek('in', { limit: 1000 });
      return ctx.take(e, { data: { count: state.count + 1 } });
    },
    async next(_ctx, { data }) { return { count: data.count }; },
  });
`);
  await stage.publish(workflow, 'in', ...Array.from({ length: 1_000 }, (_, i) => ({ id: `${i}` })));
  await stage.quiet();
  assert.match(stage.reader.fetch('workflow', workflow)[0]?.maintenanceRunId ?? '', /^run_/);
  const last = stage.reader.table('handler_runs').at(-1);
  assert.equal(last?.status, 'failed:logic');
  assert.match(last?.error ?? '', /more than 10000 events/);
});
