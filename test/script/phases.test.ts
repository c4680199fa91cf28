import { describe, test } from 'node:test';
import { assertMarked } from './written.ts';

/** A consumer whose phases read like this. */
function consumer(phases: string): string {
  return `import { defineWorkflow } from 'pawl';
export default defineWorkflow({
  name: 'x',
  uses: { shop: 'http', out: 'files' },
  topics: { a: {}, b: {}, c: {} }, //! unread-topic, unread-topic
}).consumer('book', {
  subscribe: ['a'],
  publishes: ['b'],
${phases}
});
`;
}

const PREPARE = '  prepare: async (ctx) => ctx.take(await ctx.peek("a"), { data: 1 }),';
const NEXT = '  async next(ctx) { ctx.publish("b", { payload: 1 }); },';

/** A consumer whose `mutate` reads like this. */
function mutate(text: string): string {
  return consumer(`${PREPARE}\n${text}\n${NEXT}`);
}

describe('a call its phase forbids is found on its line', () => {
  test('in prepare', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  async prepare(ctx) {
    ctx.log('fine');
    await ctx.shop.get({ path: '/' });
    await ctx.out.list({ dir: '.' });
    ctx.publish('b', { payload: 1 }); //! forbidden-call
    ctx.registerInput({ source: '', type: '', id: '', title: '' }); //! forbidden-call
    await ctx.shop.post({ path: '/' }); //! forbidden-call
    return ctx.idle();
  },
${NEXT}`),
    }));

  test('in mutate', async (t) =>
    assertMarked(t, {
      'flow.ts': mutate(`  async mutate(ctx, { data }) {
    ctx.log('fine');
    await ctx.shop.get({ path: '/' }); //! forbidden-call
    const [e] = await ctx.peek('a'); //! forbidden-call
    await ctx.getByIds('a', []); //! forbidden-call
    ctx.publish('b', { payload: 1 }); //! forbidden-call
    ctx.registerInput({}); //! forbidden-call
    ctx.take(e, { data }); //! forbidden-call
    return ctx.shop.post({ path: '/' });
  },`),
    }));

  test('in next', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`${PREPARE}
  async next(ctx) {
    ctx.log('fine');
    ctx.publish('b', { payload: 1 });
    await ctx.shop.get({ path: '/' }); //! forbidden-call
    await ctx.shop.post({ path: '/' }); //! forbidden-call
    await ctx.peek('a'); //! forbidden-call
    ctx.registerInput({}); //! forbidden-call
    return ctx.idle(); //! forbidden-call
  },`),
    }));

  test('in a producer and a webhook', async (t) => {
    const handler = `{
    publishes: ['a'],
    verify: 'github',
    async handler(ctx) {
      const inputId = ctx.registerInput({ source: '', type: '', id: '', title: '' });
      const { body } = await ctx.shop.get({ path: '/' });
      ctx.publish('a', { messageId: '', inputId, payload: body });
      await ctx.shop.delete({ path: '/' }); //! forbidden-call
      await ctx.peek('a'); //! forbidden-call
      return ctx.idle(); //! forbidden-call
    },
  }`;
    await assertMarked(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', uses: { shop: 'http' }, topics: { a: {} } }) //! unread-topic
  .producer('poll', ${handler})
  .webhook('hook', ${handler});
`,
    });
  });

  test('in the phases of each', async (t) =>
    assertMarked(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', uses: { shop: 'http' }, topics: { a: {} } })
  .each('book', 'a', {
    async prepare(ctx, event) {
      await ctx.peek('a'); //! forbidden-call
      return (await ctx.shop.get({ path: event.payload })).body;
    },
    title: (data) => data.title,
    mutate: async (ctx, data) => ctx.shop.get({ path: data }), //! forbidden-call
    async next(ctx) {
      await ctx.shop.put({ path: '/' }); //! forbidden-call
    },
  });
`,
    }));
});

describe('topics, connections and methods a handler does not have', () => {
  test('are found on their lines', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  async prepare(ctx) {
    await ctx.peek('b'); //! unsubscribed-topic
    await ctx.getByIds(\`c\`, ['1']); //! unsubscribed-topic
    await ctx.peek('nope'); //! undeclared-topic
    await ctx.mail.list({}); //! unknown-connection
    await ctx.shop.fetch({}); //! unknown-method
    await ctx.shop['get']({ path: '/' });
    await ctx.fetch('/'); //! unknown-connection
    return ctx.idle();
  },
  async next(ctx) {
    ctx.publish('c', { payload: 1 }); //! unlisted-topic
    ctx.publish('nope', { payload: 1 }); //! undeclared-topic
    ctx.publish('b', { payload: 1 });
  },`),
    }));

  test('are found in the reservations that prepare returns', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  async prepare(ctx) {
    const [e] = await ctx.peek('a');
    const topic = e.topic;
    const inner = () => { return { reservations: [{ topic: 'b', ids: [] }] }; };
    if (e.payload === 1) return { data: 1, reservations: [
      { topic: 'a', ids: [e.messageId] },
      { topic: 'b', ids: ['1'] }, //! unsubscribed-topic
      { ids: ['1'], topic: 'nope' }, //! undeclared-topic
    ] };
    if (e.payload === 2) return { reservations: [{ topic: 'b', ids: [] }], ...inner() };
    if (e.payload === 3) return { reservations: [{ topic, ids: [] }, { topic: 'b', ...e }], data: 1 };
    return e.payload === 4
      ? ctx.idle()
      : { ...e, reservations: [{ topic: 'c', ids: ['1'] }], data: 1 }; //! unsubscribed-topic
  },
${NEXT}`),
    }));

  test('are found in the reservations of a prepare that is an arrow', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  prepare: async () => ({ reservations: [{ topic: 'b', ids: ['1'] }], data: 1 }), //! unsubscribed-topic
${NEXT}`),
    }));

  test('are found behind a name', async (t) =>
    assertMarked(t, {
      'flow.ts': `const TOPIC = 'b';\n${consumer(`
  async prepare({ peek, shop, out: files }) {
    await peek(TOPIC); //! unsubscribed-topic
    const { get, post } = shop;
    await get({ path: '/' });
    await post({ path: '/' }); //! forbidden-call
    await files.append({}); //! forbidden-call
    const list = files.list;
    await list({ dir: '.' });
  },
${NEXT}`)}`,
    }));

  test('a name of its own is not the context', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  async prepare(ctx) {
    const names = [{ publish: (name: string) => name }].map((ctx) => ctx.publish('b'));
    return ctx.idle({ wakeAt: names.length });
  },
${NEXT}`),
    }));
});

test('a context is followed into the functions it is handed to, in any file', async (t) =>
  assertMarked(t, {
    'flow.ts': `import { defineWorkflow } from 'pawl';
import { send } from './lib/send.ts';
import * as lib from './lib/send.ts';
async function look(ctx, depth) {
  if (depth > 3) return look(ctx, depth - 1);
  return ctx.peek('b'); //! unsubscribed-topic
}
export default defineWorkflow({ name: 'x', uses: { shop: 'http' }, topics: { a: {}, b: {} } })
  .consumer('one', {
    subscribe: ['a'],
    async prepare(ctx) {
      await look(ctx, 1);
      await lib.tell(ctx.shop);
      return ctx.idle();
    },
    mutate: async (ctx, { data }) => send(ctx, data),
  })
  .consumer('two', {
    subscribe: ['b'],
    prepare: async (ctx) => ctx.idle(),
    async mutate(ctx, { data }) {
      await send(ctx, data); //! mutation-not-last
      ctx.log('sent');
    },
  });
`,
    'lib/send.ts': `export const send = (ctx: any, data: unknown) => ctx.shop.post({ path: '/', json: data });
export async function tell(shop: any) {
  await shop.post({ path: '/' }); //! forbidden-call
}
`,
  }));

describe('a mutation is the returned or last call', () => {
  const RIGHT: Readonly<Record<string, string>> = {
    returned: 'async mutate(ctx) { return ctx.shop.post({ path: "/" }); },',
    'returned and awaited': 'async mutate(ctx) { return await ctx.shop.post({ path: "/" }); },',
    'the body of an arrow': 'mutate: (ctx) => ctx.shop.post({ path: "/" }),',
    'awaited as the last statement': 'async mutate(ctx) { ctx.log("x"); await ctx.shop.post({ path: "/" }); },',
    'returned by one branch or another': `async mutate(ctx, { data }) {
      if (data.small) return;
      if (data.big) return ctx.shop.post({ path: "/" });
      return data.file ? ctx.out.append({ path: "x", text: "" }) : ctx.shop.put({ path: "/" });
    },`,
    'returned or nothing': 'mutate: async (ctx, { data }) => data.big && ctx.shop.post({ path: "/" }),',
    'last in a branch that is last': `async mutate(ctx, { data }) {
      if (data.big) { await ctx.shop.post({ path: "/" }); } else { await ctx.shop.put({ path: "/" }); }
    },`,
    'awaited, then return': `async mutate(ctx, { data }) {
      if (data.big) { await ctx.shop.post({ path: "/" }); return; }
      ctx.log("small");
    },`,
    'in the cases of a switch': `async mutate(ctx, { data }) {
      switch (data.kind) {
        case 1: return ctx.shop.post({ path: "/" });
        case 2: { await ctx.shop.put({ path: "/" }); break; }
        case 3: await ctx.shop.patch({ path: "/" }); break;
        default: ctx.log("none");
      }
    },`,
    'a function of a name': `mutate: async ({ shop: { post } }) => { return post({ path: "/" }); },`,
  };
  for (const [name, text] of Object.entries(RIGHT)) {
    test(`${name}: fine`, async (t) => assertMarked(t, { 'flow.ts': mutate(text) }));
  }

  const WRONG: Readonly<Record<string, string>> = {
    'in a loop': `async mutate(ctx, { data }) {
      for (const one of data) {
        await ctx.shop.post({ json: one }); //! mutation-not-last
      }
    },`,
    'in a while': `async mutate(ctx, { data }) {
      while (data.more) return ctx.shop.post({ path: "/" }); //! mutation-not-last
    },`,
    'in a try': `async mutate(ctx) {
      try {
        return await ctx.shop.post({ path: "/" }); //! mutation-not-last
      } catch {
        return ctx.shop.put({ path: "/" }); //! mutation-not-last
      }
    },`,
    'in Promise.all': `async mutate(ctx) {
      return Promise.all([
        ctx.shop.post({ path: "/" }), //! mutation-not-last
        ctx.shop.put({ path: "/" }), //! mutation-not-last
      ]);
    },`,
    dropped: `async mutate(ctx) {
      ctx.shop.post({ path: "/" }); //! mutation-not-last
    },`,
    'dropped by void': `async mutate(ctx) {
      void ctx.shop.post({ path: "/" }); //! mutation-not-last
    },`,
    'with code after it': `async mutate(ctx) {
      await ctx.shop.post({ path: "/" }); //! mutation-not-last
      ctx.log("done");
    },`,
    twice: `async mutate(ctx) {
      await ctx.shop.post({ path: "/" }); //! mutation-not-last
      return ctx.shop.put({ path: "/" });
    },`,
    'in a branch with code after it': `async mutate(ctx, { data }) {
      if (data.big) {
        await ctx.shop.post({ path: "/" }); //! mutation-not-last
      }
      ctx.log("done");
    },`,
    'kept in a variable': `async mutate(ctx) {
      const answer = await ctx.shop.post({ path: "/" }); //! mutation-not-last
      return answer;
    },`,
    'asked for its result': `async mutate(ctx) {
      return (await ctx.shop.post({ path: "/" })).body; //! mutation-not-last
    },`,
    'followed by then': `mutate: (ctx) => {
      return ctx.shop.post({ path: "/" }).then((r) => r); //! mutation-not-last
    },`,
    'decided by': `async mutate(ctx) {
      if (await ctx.shop.post({ path: "/" })) return; //! mutation-not-last
    },`,
    'in a callback': `async mutate(ctx, { data }) {
      data.forEach((one) => ctx.shop.post({ json: one })); //! mutation-not-last
    },`,
    'tried a second time': `async mutate(ctx) {
      return (await ctx.shop.post({ path: "/" })) || //! mutation-not-last
        ctx.shop.put({ path: "/" });
    },`,
  };
  for (const [name, text] of Object.entries(WRONG)) {
    test(`${name}: a finding`, async (t) => assertMarked(t, { 'flow.ts': mutate(text) }));
  }
});

describe('phases are written in order', () => {
  test('next before mutate', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`${PREPARE}
${NEXT}
  mutate: async (ctx) => ctx.shop.post({ path: '/' }), //! phases-out-of-order`),
    }));

  test('prepare last', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  mutate: async (ctx) => ctx.shop.post({ path: '/' }),
${NEXT}
${PREPARE} //! phases-out-of-order`),
    }));

  test('in each', async (t) =>
    assertMarked(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', uses: { shop: 'http' }, topics: { a: {} } }).each('book', 'a', {
  title: () => '',
  async prepare() {}, //! phases-out-of-order
  mutate: async (ctx) => ctx.shop.post({ path: '/' }),
});
`,
    }));
});

describe('globals', () => {
  test('what the sandbox does not have is found on its line', async (t) =>
    assertMarked(t, {
      'flow.ts': consumer(`
  async prepare(ctx) {
    await fetch('https://example.com'); //! missing-global
    setTimeout(() => {}, 5); //! missing-global
    const key = process.env.KEY; //! missing-global
    const kind = typeof window;
    return ctx.idle({ wakeAt: kind + key });
  },
${NEXT}`),
      'unused.ts': 'fetch("/")',
    }));

  test('a name of its own is no global', async (t) =>
    assertMarked(t, {
      'flow.ts': `import { fetch } from './fetch.ts';\n${consumer(`
  async prepare(ctx) {
    const process = { env: 1 };
    return ctx.idle({ wakeAt: fetch(process.env) });
  },
${NEXT}`)}`,
      'fetch.ts': 'export function fetch(n: number) { return n; }\n',
    }));

  test('what is changed at the top level while the script runs is a warning where it is declared', async (t) =>
    assertMarked(t, {
      'flow.ts': `let count = 0; //! shared-global
const seen = new Set(); //! shared-global
const cache: Record<string, number> = {}; //! shared-global
const table = [1, 2].map((n) => n * 2);
const settings = { limit: 5 };
let never = 1;
const list: number[] = [];
list.push(1);
${consumer(`
  async prepare(ctx) {
    count++;
    seen.add(1);
    cache['a'] = 2;
    const seenHere = [never]; seenHere.push(2);
    {
      const list = []; list.push(settings.limit, table.length);
    }
    return ctx.idle();
  },
${NEXT}`)}`,
    }));
});
