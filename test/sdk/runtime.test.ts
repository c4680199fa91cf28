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
    take: ({ messageId }: { messageId: string }, { data, title }: { data: unknown; title: string }) => ({
      reservations: [{ topic: 'order', ids: [messageId] }],
      data,
      ui: { title },
    }),
    idle: () => ({ idle: true }),
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
    const shown = (value: unknown): unknown => (typeof value === 'function' ? 'a function' : value);
    const shapes = [written, chained].map((one) =>
      JSON.parse(JSON.stringify(one[DEFINITION], (_key, value) => shown(value))),
    );
    assert.deepEqual(shapes[0], shapes[1]);
    assert.deepEqual(shapes[0], {
      name: 'orders',
      uses: { shop: 'http' },
      topics: { order: {}, booked: { description: 'all booked' } },
      producers: { poll: { publishes: ['order'], schedule: { interval: '5m' }, handler: 'a function' } },
      consumers: { book: { subscribe: ['order'], publishes: ['booked'], prepare: 'a function' } },
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

  test('a name is given once', () => {
    const twice = (): unknown => defineWorkflow(LITERAL).producer('poll', poll).producer('poll', poll);
    assert.throws(twice, /two handlers are named "poll"/);
  });

  test('a name like that of a property every object has is just a name', () => {
    const { producers } = defineWorkflow(LITERAL).producer('constructor', poll)[DEFINITION];
    assert.deepEqual(Object.keys(producers), ['constructor']);
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
    assert.deepEqual(await consumers.book?.prepare?.({ ...host().ctx, peek: async () => [] }), { idle: true });
  });
});

test('the body of a webhook is what its validator makes of it', async () => {
  const seen: unknown[] = [];
  const { producers } = defineWorkflow({ name: 'checked', topics: { order: z.object({ id: z.number() }) } }).webhook(
    'hook',
    {
      publishes: ['order'],
      verify: 'standard',
      body: z.object({ id: z.coerce.number() }),
      async handler(_ctx, { id, body }) {
        seen.push(id, body);
      },
    },
  )[DEFINITION];
  await producers.hook?.handler?.({}, { id: 'd', body: { id: '5', more: 1 } });
  assert.deepEqual(seen, ['d', { id: 5 }]);
  await assert.rejects(
    async () => producers.hook?.handler?.({}, { id: 'd', body: { id: 'x' } }),
    /the body of the delivery is not valid: id: /,
  );
});

test('a validator is kept where the host finds it', () => {
  const schema = z.object({ id: z.number() });
  const { topics } = defineWorkflow({ name: 'checked', topics: { order: schema, free: topic<number>() } })[DEFINITION];
  assert.equal(topics.order?.schema, schema);
  assert.deepEqual(topics.free, {});
});
