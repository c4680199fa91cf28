// Uses that must compile, with probes of the exact types an author sees. The type checker is the test: nothing here runs
// but the definitions themselves.
import { defineConfig, defineWorkflow, type StandardSchemaV1, secret, topic } from 'pawl';
import './more-connectors.ts';
import { type Order, same } from './same-type.ts';

const amount: StandardSchemaV1<{ cents: string }, { cents: number }> = {
  '~standard': { version: 1, vendor: 'none', validate: () => ({ value: { cents: 0 } }) },
};

export const good = defineWorkflow({
  name: 'good',
  uses: { shop: 'http', book: 'files', mail: 'email' },
  topics: { a: topic<Order>(), b: topic<{ n: number }>(), z: amount, u: {}, w: { description: 'anything' } },
})
  .producer('poll', {
    publishes: ['a', 'z'],
    schedule: { cron: '0 8 * * 1-5', timeZone: 'Europe/Berlin' },
    state: { cursor: '' },
    async handler(ctx, state) {
      same<typeof state, { cursor: string }>(true);
      const { body } = await ctx.shop.get<Order[]>({ path: '/', query: { after: state.cursor } });
      same<typeof body, Order[]>(true);
      const untyped = await ctx.shop.get({ path: '/' });
      untyped.body.anything.at.all;
      // With a validator, a publisher gives its input and a reader gets its output.
      ctx.publish('z', { messageId: '1', payload: { cents: '5' } });
      return { cursor: 'x' };
    },
  })
  .webhook('hook', {
    publishes: ['b'],
    verify: 'standard',
    body: amount,
    async handler(ctx, delivery, state) {
      same<typeof delivery.body, { cents: number }>(true);
      same<typeof state, undefined>(true);
      ctx.publish('b', { messageId: delivery.id, payload: { n: delivery.body.cents } });
    },
  })
  .consumer('probe', {
    subscribe: ['a', 'z', 'u', 'w'],
    publishes: ['b'],
    state: { n: 0, last: null as string | null },
    async prepare(ctx, state) {
      same<typeof state, { n: number; last: string | null }>(true);
      const [e] = await ctx.peek('a');
      const [z] = await ctx.getByIds('z', ['1']);
      const [u] = await ctx.peek('u', { limit: 1 });
      const [w] = await ctx.peek('w');
      if (!e || !z) return ctx.idle({ wakeAt: Date.now() });
      same<typeof e.payload, Order>(true);
      same<typeof z.payload, { cents: number }>(true);
      u?.payload.anything;
      w?.payload.anything;
      return ctx.take([e, z], { data: { order: e.payload }, title: 'both', wakeAt: new Date() });
    },
    async mutate(ctx, prepared) {
      same<typeof prepared.data, { readonly order: Order }>(true);
      if (prepared.data.order.total > 5) return ctx.book.append({ path: 'x', text: '' });
      return ctx.mail.send({ to: '', subject: '', text: '' });
    },
    async next(ctx, prepared, r) {
      same<typeof prepared.data, { readonly order: Order }>(true);
      if (r.status === 'applied') same<typeof r.result, { offset: number } | { messageId: string }>(true);
      ctx.publish('b', { payload: { n: 1 } });
      return { n: 1, last: null };
    },
  })
  .consumer('an awaited call is not returned, so its result is unknown', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      if (!e) return;
      return ctx.take(e, { data: e.payload });
    },
    async mutate(ctx, p) {
      await ctx.book.append({ path: '', text: p.data.id });
    },
    async next(_ctx, _p, r) {
      if (r.status === 'applied') same<typeof r.result, unknown>(true);
    },
  })
  .consumer('an http result', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      return e ? ctx.take(e, { data: e.payload }) : ctx.idle();
    },
    mutate: async (ctx, { data }) => ctx.shop.post<{ ref: string }>({ path: '/', json: data }),
    async next(_ctx, _p, r) {
      if (r.status !== 'applied') return;
      // Null when a person said that it happened and could not say what was answered.
      if (r.result !== null) same<typeof r.result.body, { ref: string }>(true);
    },
  })
  .consumer('a plain result, empty data when there is nothing', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      if (!e) return { reservations: [], data: {} };
      return { reservations: [{ topic: 'a', ids: [e.messageId] }], data: e.payload, ui: { title: '' } };
    },
    async mutate(ctx, p) {
      same<typeof p.data, Order>(true);
      return ctx.book.append({ path: '', text: p.data.id });
    },
  })
  .consumer('a plain result, undefined when there is nothing', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      if (!e) return;
      return { reservations: [{ topic: 'a', ids: [e.messageId] }], data: e.payload };
    },
    async mutate(_ctx, p) {
      same<typeof p.data, Order>(true);
    },
  })
  .consumer('a plain result with only a wake time', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      if (!e) return { reservations: [], data: undefined, wakeAt: 5 };
      return { reservations: [{ topic: 'a', ids: [e.messageId] }], data: e.payload };
    },
    async mutate(_ctx, p) {
      same<typeof p.data, Order>(true);
    },
  })
  .consumer('a plain result with data null', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      if (!e) return { reservations: [], data: null };
      return { reservations: [{ topic: 'a', ids: [e.messageId] }], data: e.payload };
    },
    async mutate(_ctx, p) {
      same<typeof p.data, Order>(true);
    },
  })
  .consumer('two takes make a union', {
    subscribe: ['a'],
    async prepare(ctx) {
      const [e] = await ctx.peek('a');
      if (!e) return ctx.idle();
      if (e.payload.total > 5) return ctx.take(e, { data: { kind: 'big', total: e.payload.total } });
      return ctx.take(e, { data: { kind: 'small', id: e.payload.id } });
    },
    async mutate(ctx, { data }) {
      if (data.kind !== 'big') return;
      same<typeof data, { readonly kind: 'big'; readonly total: number }>(true);
      return ctx.book.append({ path: '', text: String(data.total) });
    },
  })
  .consumer('arrow functions', {
    subscribe: ['a'],
    prepare: async (ctx) => {
      const [e] = await ctx.peek('a');
      return e ? ctx.take(e, { data: { id: e.payload.id } }) : ctx.idle();
    },
    mutate: (ctx, { data }) => ctx.book.append({ path: '', text: data.id }),
    next: async (_ctx, { data }, r) => {
      same<typeof data.id, string>(true);
      if (r.status === 'applied') same<typeof r.result, { offset: number }>(true);
    },
  })
  .each('each with a prepare', 'a', {
    publishes: ['b'],
    async prepare(ctx, event) {
      same<typeof event.payload, Order>(true);
      const { status } = await ctx.shop.head({ path: '/' });
      return { status };
    },
    title: (data, event) => `${data.status} ${event.payload.id}`,
    mutate: async (ctx, data, event) => ctx.book.write({ path: event.messageId, text: String(data.status) }),
    next(ctx, data, r, event) {
      same<typeof event.topic, 'a'>(true);
      if (r.status === 'applied') ctx.publish('b', { payload: { n: r.result.bytes + data.status } });
    },
  });

/** Without topics and connections there is nothing to use, and that is known too. */
export const bare = defineWorkflow({ name: 'bare' });

export const literal = defineWorkflow({
  name: 'literal',
  uses: { shop: 'http' },
  topics: { x: {} },
  producers: {
    poll: {
      publishes: ['x'],
      schedule: { interval: '5m' },
      async handler(ctx, state) {
        ctx.publish('x', { messageId: state?.cursor ?? '', payload: 1 });
        return { cursor: 1 };
      },
    },
    hook: {
      publishes: ['x'],
      webhook: { verify: 'slack' },
      async handler(ctx, delivery, state) {
        ctx.publish('x', { messageId: delivery.id, payload: [delivery.body.any, state?.any] });
      },
    },
  },
});

export const config = defineConfig({
  connections: {
    shop: {
      type: 'http',
      baseUrl: 'http://127.0.0.1:9100',
      timeoutMs: 5000,
      visibilityMs: 0,
      headers: { authorization: secret('SHOP_TOKEN'), accept: 'application/json' },
      notDone: [409],
      approval: { delete: 'always', post: 'first' },
      auth: { bearer: secret('SHOP_TOKEN') },
      ratePerSecond: 5,
      reconcile: {
        get: '/bookings?ref={json.id}',
        applied: { has: { 'body.items[*].ref': '{json.id}' } },
        result: 'body.items[*]',
      },
    },
    book: { type: 'files', root: './out', approval: { write: 'never' } },
    team: { type: 'slack', token: secret('SLACK') },
  },
});
same<typeof config.connections.book.root, './out'>(true);
