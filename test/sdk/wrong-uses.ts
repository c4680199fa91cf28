// Uses that must not compile. An `@ts-expect-error` that holds nothing back fails the type check; `compile.test.ts` shows
// that each of these does hold something back.
import { defineConfig, defineWorkflow, topic } from 'pawl';
import './more-connectors.ts';
import { type Order, same } from './same-type.ts';

export const wrong = defineWorkflow({
  name: 'wrong',
  uses: { shop: 'http', book: 'files' },
  topics: { a: topic<Order>(), b: topic<{ n: number }>() },
});

wrong.consumer('calls the phase forbids', {
  subscribe: ['a'],
  publishes: ['b'],
  state: { n: 0 },
  async prepare(ctx, state) {
    // @ts-expect-error the state has no such field
    state.last;
    const [e] = await ctx.peek('a');
    // @ts-expect-error not subscribed
    await ctx.peek('b');
    // @ts-expect-error not subscribed
    await ctx.getByIds('b', []);
    // @ts-expect-error no publish in prepare
    ctx.publish('b', { payload: { n: 1 } });
    // @ts-expect-error no input in prepare
    ctx.registerInput({ source: '', type: '', id: '', title: '' });
    // @ts-expect-error no mutation in prepare
    ctx.shop.post({ path: '/' });
    // @ts-expect-error unknown method
    ctx.shop.fetch({ path: '/' });
    // @ts-expect-error unknown connection
    ctx.mail.list({ mailbox: '' });
    if (!e) return;
    return ctx.take(e, { data: e.payload });
  },
  async mutate(ctx, prepared) {
    // @ts-expect-error the payload has no such field
    prepared.data.sku;
    // @ts-expect-error no read in mutate
    ctx.shop.get({ path: '/' });
    // @ts-expect-error no topic in mutate
    ctx.peek('a');
    // @ts-expect-error no publish in mutate
    ctx.publish('b', { payload: { n: 1 } });
    // @ts-expect-error a call is not a value
    (await ctx.shop.post({ path: '/' })).status;
    return ctx.book.append({ path: 'x', text: '' });
  },
  async next(ctx, _prepared, r) {
    // @ts-expect-error result only when applied
    r.result;
    // @ts-expect-error a topic it does not publish
    ctx.publish('a', { payload: { id: '', total: 1 } });
    // @ts-expect-error wrong payload
    ctx.publish('b', { payload: { n: 'x' } });
    // @ts-expect-error no read in next
    ctx.shop.get({ path: '/' });
    // @ts-expect-error no mutation in next
    ctx.shop.post({ path: '/' });
    // @ts-expect-error no topic in next
    ctx.peek('a');
  },
});

wrong.producer('calls a producer may not make', {
  publishes: ['a'],
  async handler(ctx) {
    // @ts-expect-error no topic in a producer
    ctx.peek('a');
    // @ts-expect-error no mutation in a producer
    ctx.shop.post({ path: '/' });
    // @ts-expect-error a producer names its messages
    ctx.publish('a', { payload: { id: '', total: 1 } });
    // @ts-expect-error not published by this producer
    ctx.publish('b', { messageId: '', payload: { n: 1 } });
  },
});

wrong.consumer('the answer of a call that a person vouched for may be missing', {
  subscribe: ['a'],
  async prepare(ctx) {
    return ctx.take(await ctx.peek('a'), { data: 1 });
  },
  mutate: async (ctx) => ctx.shop.post({ path: '/' }),
  async next(_ctx, _p, r) {
    // @ts-expect-error null when nobody could say what was answered
    if (r.status === 'applied') r.result.body;
  },
});

wrong.consumer('next returns another state', {
  subscribe: ['a'],
  state: { n: 0 },
  async prepare(ctx) {
    return ctx.idle();
  },
  // @ts-expect-error the state is { n: number }
  async next(_ctx, _p) {
    return { n: 'x' };
  },
});

wrong.consumer('state cannot come from what next returns', {
  subscribe: ['a'],
  // @ts-expect-error … and so nothing else is known
  async prepare(ctx, state) {
    // @ts-expect-error give `state: { n: 0 }`
    same<typeof state, { n: number }>(true);
    return ctx.idle();
  },
  // @ts-expect-error … and without it next returns nothing
  async next() {
    return { n: 1 };
  },
});

wrong.consumer('an unknown topic', {
  // @ts-expect-error not declared
  subscribe: ['nope'],
  // @ts-expect-error … and so nothing else is known
  async prepare(ctx) {
    return ctx.idle();
  },
});

wrong.consumer('mutate returns something that is no call', {
  subscribe: ['a'],
  // @ts-expect-error … and so nothing else is known
  async prepare(ctx) {
    return ctx.idle();
  },
  // @ts-expect-error not a call
  async mutate() {
    return { ok: true };
  },
});

wrong.consumer('next before mutate', {
  subscribe: ['a'],
  async prepare(ctx) {
    const [e] = await ctx.peek('a');
    if (!e) return;
    return ctx.take(e, { data: e.payload });
  },
  async next(_ctx, _p, r) {
    // @ts-expect-error the phases are written in order, or the result is unknown
    if (r.status === 'applied') same<typeof r.result, { offset: number }>(true);
  },
  // @ts-expect-error … and mutate may then return nothing
  async mutate(ctx, p) {
    return ctx.book.append({ path: '', text: p.data.id });
  },
});

wrong.consumer('mutate before prepare', {
  subscribe: ['a'],
  async mutate(_ctx, p) {
    // @ts-expect-error the phases are written in order, or there is no data
    same<typeof p.data, Order>(true);
  },
  // @ts-expect-error … and prepare may then return nothing
  async prepare(ctx) {
    const [e] = await ctx.peek('a');
    if (!e) return;
    return ctx.take(e, { data: e.payload });
  },
});

wrong.each('title before prepare', 'a', {
  // @ts-expect-error the data is not known yet
  title: (d) => d.nice,
  // @ts-expect-error … and prepare may then only return the payload
  async prepare(_ctx, e) {
    return { nice: e.payload.id };
  },
  mutate: async (ctx) => ctx.book.append({ path: '', text: '' }),
});

wrong.each('each selects by itself', 'a', {
  async prepare(ctx, e) {
    // @ts-expect-error no topic in the prepare of each
    await ctx.peek('a');
    return e.payload;
  },
  title: (order) => order.id,
  mutate: async (ctx, order) => ctx.book.append({ path: '', text: order.id }),
});

// @ts-expect-error unknown connector
defineWorkflow({ name: 'x', uses: { a: 'ftp' }, topics: {} });
// @ts-expect-error a topic is an object
defineWorkflow({ name: 'x', topics: { a: 5 } });
// @ts-expect-error not a duration
wrong.producer('p', { publishes: ['a'], schedule: { interval: '5 minutes' }, handler: async () => undefined });
// @ts-expect-error unknown signature scheme
wrong.webhook('q', { publishes: ['a'], verify: 'none', handler: async () => undefined });
defineWorkflow({
  name: 'x',
  topics: { a: {} },
  // @ts-expect-error the literal form knows the topics too
  producers: { p: { publishes: ['b'], handler: async () => undefined } },
});
// @ts-expect-error unknown connection type
defineConfig({ connections: { s: { type: 'ftp' } } });
// @ts-expect-error a connection needs its options
defineConfig({ connections: { s: { type: 'http' } } });
// @ts-expect-error approval by the name of a mutation
defineConfig({ connections: { s: { type: 'http', baseUrl: '', approval: { send: 'always' } } } });
