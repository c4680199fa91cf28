import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFINITION, defineConfig, defineWorkflow, type HostCtx, secret, topic } from 'pawl';
import { z } from 'zod';

const EVENT = { topic: 'order', messageId: 'm1', payload: { id: 7 }, createdAt: 5 };

/** A host that has one event, and notes what it was asked. */
function host(): { ctx: HostCtx; asked: unknown[][] } {
  const asked: unknown[][] = [];
  const note =
    (name: string, answer: unknown) =>
    (...args: unknown[]) => {
      asked.push([name, ...args]);
      return answer;
    };
  const ctx = Object.freeze({
    peek: note('peek', Promise.resolve([EVENT])),
    getByIds: note('getByIds', Promise.resolve([EVENT])),
    publish: note('publish', undefined),
    shop: Object.freeze({ post: note('post', 'a call') }),
  });
  return { ctx, asked };
}

const LITERAL = {
  name: 'orders',
  uses: { shop: 'http' },
  topics: { order: {}, booked: { description: 'all booked' } },
} as const;

const poll = {
  publishes: ['order'],
  schedule: { interval: '5m' },
  handler: async () => undefined,
} as const;

describe('one runtime value', () => {
  test('both forms give the same definition', () => {
    const book = { subscribe: ['order'], publishes: ['booked'], prepare: async () => undefined } as const;
    const written = defineWorkflow({ ...LITERAL, producers: { poll }, consumers: { book } });
    const chained = defineWorkflow(LITERAL).producer('poll', poll).consumer('book', book);
    const description = JSON.parse(JSON.stringify(written[DEFINITION]));
    assert.deepEqual(JSON.parse(JSON.stringify(chained[DEFINITION])), description);
    assert.deepEqual(description, {
      name: 'orders',
      uses: { shop: 'http' },
      topics: { order: { schema: false }, booked: { description: 'all booked', schema: false } },
      producers: { poll: { publishes: ['order'], schedule: { interval: '5m' }, handler: true } },
      consumers: {
        book: { subscribe: ['order'], publishes: ['booked'], prepare: true, mutate: false, next: false },
      },
      repeated: [],
    });
  });

  test('a webhook is a producer with a signature scheme, in both forms', () => {
    const handler = async (): Promise<void> => undefined;
    const written = defineWorkflow({
      ...LITERAL,
      producers: { hook: { publishes: ['order'], webhook: { verify: 'github' }, handler } },
    });
    const chained = defineWorkflow(LITERAL).webhook('hook', { publishes: ['order'], verify: 'github', handler });
    for (const { [DEFINITION]: definition } of [written, chained]) {
      assert.deepEqual(definition.producers.hook?.webhook, { verify: 'github' });
    }
  });

  test('a name given twice is noted, not lost', () => {
    assert.deepEqual(defineWorkflow(LITERAL).producer('poll', poll).producer('poll', poll)[DEFINITION].repeated, [
      'poll',
    ]);
  });

  test('a name like that of a property every object has is just a name', () => {
    const { producers, repeated } = defineWorkflow(LITERAL).producer('constructor', poll)[DEFINITION];
    assert.deepEqual([Object.keys(producers), repeated], [['constructor'], []]);
  });

  test('what is no object is refused in words', () => {
    const refused = (make: (any: never) => unknown, says: RegExp): void =>
      assert.throws(() => make(undefined as never), says);
    refused((none) => defineWorkflow(none), /defineWorkflow needs an object, and got undefined/);
    refused((none) => defineWorkflow(LITERAL).producer('p', none), /producer p needs an object/);
    refused((none) => defineWorkflow(LITERAL).webhook('p', none), /webhook p needs an object/);
    refused((none) => defineWorkflow(LITERAL).consumer('p', none), /consumer p needs an object/);
    refused((none) => defineWorkflow(LITERAL).each('p', 'order', none), /each p needs an object/);
    assert.throws(
      () => defineWorkflow({ name: 'x', topics: ['a'] as never }),
      /topics needs an object, and got a list/,
    );
  });

  test('a secret is a name, and a config is what was given', () => {
    const config = defineConfig({
      connections: { shop: { type: 'http', baseUrl: 'http://x', headers: { a: secret('T') } } },
    });
    assert.deepEqual(config.connections.shop.headers, { a: { secret: 'T' } });
  });
});

describe('state', () => {
  const seen: unknown[] = [];
  const { producers, consumers } = defineWorkflow(LITERAL)
    .producer('poll', {
      ...poll,
      state: { cursor: 'first' },
      async handler(_ctx, state) {
        seen.push(state);
      },
    })
    .webhook('hook', {
      publishes: ['order'],
      verify: 'standard',
      state: { count: 0 },
      async handler(_ctx, delivery, state) {
        seen.push(delivery.id, state);
      },
    })
    .consumer('none', {
      subscribe: ['order'],
      async prepare(_ctx, state) {
        seen.push(state);
      },
    })[DEFINITION];

  test('the initial value stands until something was saved', async () => {
    const { ctx } = host();
    await producers.poll?.handler?.(ctx);
    await producers.poll?.handler?.(ctx, null);
    await producers.poll?.handler?.(ctx, { cursor: 'saved' });
    await producers.hook?.handler?.(ctx, { id: 'd1' });
    await consumers.none?.prepare?.(ctx, null);
    assert.deepEqual(seen, [
      { cursor: 'first' },
      { cursor: 'first' },
      { cursor: 'saved' },
      'd1',
      { count: 0 },
      undefined,
    ]);
  });
});

describe('take and idle', () => {
  /** What the host gets from a `prepare`. */
  async function prepared(prepare: (ctx: never) => unknown): Promise<unknown> {
    const { consumers } = defineWorkflow({
      ...LITERAL,
      consumers: { c: { subscribe: ['order'], prepare: prepare as never } },
    })[DEFINITION];
    return consumers.c?.prepare?.(host().ctx);
  }
  interface Ctx {
    take(events: unknown, options: object): unknown;
    idle(options?: object): unknown;
  }

  test('take groups the events by topic', async () => {
    const other = { ...EVENT, topic: 'booked', messageId: 'm2' };
    const result = await prepared((ctx: Ctx) =>
      ctx.take([EVENT, other, { ...EVENT, messageId: 'm3' }], { data: 1, title: 'T' }),
    );
    assert.deepEqual(result, {
      reservations: [
        { topic: 'order', ids: ['m1', 'm3'] },
        { topic: 'booked', ids: ['m2'] },
      ],
      data: 1,
      ui: { title: 'T' },
    });
  });

  test('a wake time becomes ISO 8601, however it was given', async () => {
    const at = Date.UTC(2030, 0, 2);
    for (const wakeAt of [at, new Date(at), '2030-01-02']) {
      assert.deepEqual(await prepared((ctx: Ctx) => ctx.idle({ wakeAt })), {
        idle: true,
        wakeAt: '2030-01-02T00:00:00.000Z',
      });
      assert.deepEqual(await prepared(() => ({ reservations: [], data: 1, wakeAt })), {
        reservations: [],
        data: 1,
        wakeAt: '2030-01-02T00:00:00.000Z',
      });
    }
    assert.deepEqual(await prepared((ctx: Ctx) => ctx.idle()), { idle: true });
    assert.deepEqual(await prepared(() => ({ reservations: [], data: 1, wakeAt: null })), {
      reservations: [],
      data: 1,
    });
    assert.equal(await prepared(() => undefined), undefined);
  });

  test('nonsense is refused in words', async () => {
    await assert.rejects(
      prepared((ctx: Ctx) => ctx.idle({ wakeAt: 'soon' })),
      /wakeAt is not a time: soon/,
    );
    await assert.rejects(
      prepared((ctx: Ctx) => ctx.take('m1', { data: 1 })),
      /ctx.take needs events as ctx.peek/,
    );
  });
});

describe('each', () => {
  test('it takes the oldest event and hands its payload on', async () => {
    const { consumers } = defineWorkflow(LITERAL).each('book', 'order', {
      publishes: ['booked'],
      title: (order) => `Book ${order.id}`,
      mutate: async (ctx, order, event) => ctx.shop.post({ path: event.messageId, json: order }),
      next: (ctx, order, result) => ctx.publish('booked', { payload: [order.id, result.status] }),
    })[DEFINITION];
    const { ctx, asked } = host();
    const prepared = await consumers.book?.prepare?.(ctx);
    assert.deepEqual(prepared, {
      reservations: [{ topic: 'order', ids: ['m1'] }],
      data: { event: EVENT },
      ui: { title: 'Book 7' },
    });
    assert.equal(await consumers.book?.mutate?.(ctx, prepared), 'a call');
    assert.equal(await consumers.book?.next?.(ctx, prepared, { status: 'applied' }), undefined);
    assert.deepEqual(asked, [
      ['peek', 'order', { limit: 1 }],
      ['post', { path: 'm1', json: { id: 7 } }],
      ['publish', 'booked', { payload: [7, 'applied'] }],
    ]);
    assert.deepEqual(consumers.book?.each, { topic: 'order' });
    assert.deepEqual(consumers.book?.subscribe, ['order']);
  });

  test('what its prepare returns becomes the data', async () => {
    const { consumers } = defineWorkflow(LITERAL).each('book', 'order', {
      prepare: async (_ctx, event) => ({ name: `n${event.payload.id}` }),
      title: (data) => data.name,
      mutate: async (ctx, data) => ctx.shop.post({ path: data.name }),
    })[DEFINITION];
    const { ctx, asked } = host();
    const prepared = await consumers.book?.prepare?.(ctx);
    await consumers.book?.mutate?.(ctx, JSON.parse(JSON.stringify(prepared)));
    assert.deepEqual(asked.at(-1), ['post', { path: 'n7' }]);
  });

  test('with no event it is idle', async () => {
    const { consumers } = defineWorkflow(LITERAL).each('book', 'order', {
      title: () => '',
      mutate: async () => undefined,
    })[DEFINITION];
    assert.deepEqual(await consumers.book?.prepare?.({ peek: async () => [] }), { idle: true });
  });
});

describe('validators', () => {
  const { producers, consumers } = defineWorkflow({
    name: 'checked',
    topics: { order: z.object({ id: z.coerce.number() }), free: topic<number>() },
  })
    .webhook('hook', {
      publishes: ['order', 'free'],
      verify: 'standard',
      body: z.object({ id: z.string() }),
      async handler(ctx, { body }) {
        ctx.publish('free', { messageId: 'f', payload: 1 });
        ctx.publish('order', { messageId: 'o', payload: { id: body.id } });
      },
    })
    .consumer('read', {
      subscribe: ['order'],
      async prepare(ctx) {
        return { reservations: [], data: await ctx.peek('order') };
      },
    })[DEFINITION];

  test('a payload is checked when it is published and stored as it was given', async () => {
    const { ctx, asked } = host();
    await producers.hook?.handler?.(ctx, { id: 'd', body: { id: '5', more: 1 } });
    assert.deepEqual(asked, [
      ['publish', 'free', { messageId: 'f', payload: 1 }],
      ['publish', 'order', { messageId: 'o', payload: { id: '5' } }],
    ]);
    await assert.rejects(
      async () => producers.hook?.handler?.(ctx, { id: 'd', body: { id: 'x' } }),
      /a payload published to order is not valid: id: /,
    );
    await assert.rejects(
      async () => producers.hook?.handler?.(ctx, { id: 'd', body: {} }),
      /the body of the delivery is not valid: id: /,
    );
  });

  test('a reader gets what the validator makes of it', async () => {
    const peek = async (): Promise<unknown> => [{ ...EVENT, payload: { id: '8' } }];
    assert.deepEqual(await consumers.read?.prepare?.({ peek }), {
      reservations: [],
      data: [{ ...EVENT, payload: { id: 8 } }],
    });
    await assert.rejects(
      async () => consumers.read?.prepare?.({ peek: async () => [{ ...EVENT, payload: {} }] }),
      /the payload of event m1 of order is not valid/,
    );
  });

  test('a validator that answers later is refused', async () => {
    const slow = { '~standard': { version: 1, vendor: 'slow', validate: async () => ({ value: 1 }) } } as const;
    const { producers: slowly } = defineWorkflow({ name: 'x', topics: { slow } }).producer('p', {
      publishes: ['slow'],
      handler: async (ctx) => ctx.publish('slow', { messageId: '1', payload: 1 }),
    })[DEFINITION];
    await assert.rejects(async () => slowly.p?.handler?.(host().ctx), /asynchronous validator/);
  });
});
