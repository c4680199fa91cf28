import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { assertMarked, compiled, findingsOf, written } from './written.ts';

/** Each: what is wrong, and a script whose wrong lines are marked. */
const WRONG: Readonly<Record<string, string>> = {
  'names that cannot be typed': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({
  name: 'my flow', //! name
  uses: {
    'a-b': 'http', //! name
    peek: 'files', //! name
  },
  topics: {
    'order placed': {}, //! name
  },
})
  .consumer(
    '', //! name
    { subscribe: ['order placed'], prepare: async (ctx) => ctx.idle() },
  );
`,
  'no name at all': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ topics: { a: {} } }) //! name
  .consumer('c', { subscribe: ['a'], prepare: async () => {} });
`,
  'a name given twice in a chain': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {}, b: {} } })
  .consumer('c', { subscribe: ['a'], prepare: async () => {} })
  .consumer('c', { subscribe: ['b'], prepare: async () => {} }); //! duplicate-name
`,
  'a name given twice in a literal': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({
  name: 'x',
  topics: { a: {} },
  producers: {
    p: { publishes: [], handler: async () => {} },
    c: { publishes: [], handler: async () => {} },
    p: { publishes: [], handler: async () => {} }, //! duplicate-name
  },
  consumers: {
    c: { subscribe: ['a'], prepare: async () => {} }, //! duplicate-name
  },
});
`,
  'schedules that are nonsense': `import { defineWorkflow } from 'pawl';
const handler = async () => {};
export default defineWorkflow({ name: 'x', topics: { a: {} } }) //! unread-topic
  .producer('p1', { handler, publishes: ['a'], schedule: { interval: '5 minutes' } }) //! schedule
  .producer('p2', { handler, publishes: ['a'], schedule: { interval: '1.5h' } }) //! schedule
  .producer('p3', { handler, publishes: ['a'], schedule: { interval: 30 } }) //! schedule
  .producer('p4', { handler, publishes: ['a'], schedule: { interval: '0s' } }) //! too-frequent
  .producer('p5', { handler, publishes: ['a'], schedule: { interval: '9999d' } }) //! schedule
  .producer('p6', { handler, publishes: ['a'], schedule: { cron: '61 * * * *' } }) //! schedule
  .producer('p7', { handler, publishes: ['a'], schedule: { cron: '0 0 30 2 *' } }) //! schedule
  .producer('p8', { handler, publishes: ['a'], schedule: { cron: '0 8 * * *', timeZone: 'Mars/Base' } }) //! schedule
  .producer('p9', { handler, publishes: ['a'], schedule: { cron: '2030-01-01T00:00:00' } }) //! schedule
  .producer('p10', { handler, publishes: ['a'], schedule: {} }) //! schedule
  .producer('p11', { handler, publishes: ['a'], schedule: { interval: '5m', cron: '0 8 * * *' } }) //! schedule
  .producer('p12', { handler, publishes: ['a'], schedule: { every: '5m' } }) //! schedule
  .producer('p13', { handler, publishes: ['a'], schedule: '5m' }) //! schedule
  .producer('p14', { handler, publishes: ['a'], schedule: { interval: '5m', timeZone: 'UTC' } }) //! schedule
  .producer('fine', {
    handler,
    publishes: ['a'],
    schedule: { cron: '*/10 * * * * *' },
  });
`,
  'webhooks nobody could trust': `import { defineWorkflow } from 'pawl';
const handler = async () => {};
export default defineWorkflow({
  name: 'x',
  topics: { a: {} }, //! unread-topic
  producers: {
    both: {
      publishes: ['a'],
      webhook: { verify: 'github' },
      schedule: { interval: '5m' }, //! webhook
      handler,
    },
  },
})
  .webhook('open', {
    publishes: ['a'],
    verify: 'none', //! webhook
    handler,
  });
`,
  'topics that are not declared': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {} } })
  .producer('p', {
    publishes: ['a',
      'typo'], //! undeclared-topic
    handler: async () => {},
  })
  .consumer('c', {
    subscribe: ['a', 'b'], //! undeclared-topic
    prepare: async () => {},
  })
  .each('d', 'e', { title: () => '', mutate: async () => {} }); //! undeclared-topic
`,
  'two consumers on one topic': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {}, b: {} } })
  .consumer('c', { subscribe: ['a'], prepare: async () => {} })
  .consumer('d', {
    subscribe: ['b', 'a'], //! second-consumer
    prepare: async () => {},
  })
  .each('e', 'b', { title: () => '', mutate: async () => {} }); //! second-consumer
`,
  'publishes without next': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {}, b: {} } }) //! unread-topic
  .consumer('c', {
    subscribe: ['a'],
    publishes: ['b'], //! publishes-without-next
    prepare: async () => {},
  });
`,
  'handlers that are missing': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {} } }) //! unread-topic
  .producer('p', { publishes: ['a'] }) //! no-handler
  .consumer('c', {
    subscribe: [], //! no-subscription
    prepare: async () => {},
  })
  .consumer('d', {}) //! no-subscription, no-handler
`,
  'a workflow without handlers': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x' }); //! no-handler
`,
  'connectors this engine does not have': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({
  name: 'x',
  uses: {
    old: 'ftp', //! unknown-connector
    odd: 'constructor', //! unknown-connector
    none: 5, //! malformed
  },
  topics: { a: {} },
}).consumer('c', { subscribe: ['a'], prepare: async () => {} });
`,
  'a topic listed twice': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {}, b: {} } }) //! unread-topic
  .producer('p', {
    publishes: ['a',
      'a'], //! repeated-topic
    handler: async () => {},
  })
  .consumer('c', {
    subscribe: ['a',
      'a',
      'a'], //! repeated-topic
    publishes: ['b'],
    prepare: async () => {},
    next: async () => {},
  });
`,
  'lists that are no lists': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {} } })
  .consumer('c', { subscribe: ['a'], prepare: async () => {} })
  .producer('p', {
    publishes: 'a', //! malformed
    handler: async () => {},
  });
`,
};

describe('a declaration that is wrong is found on its line', () => {
  for (const [name, text] of Object.entries(WRONG)) {
    test(name, async (t) => assertMarked(t, { 'flow.ts': text }));
  }
});

describe('declarations are found where they are written', () => {
  test('in a variable, a spread, another file, a statement of its own', async (t) =>
    assertMarked(t, {
      'flow.ts': `import { defineWorkflow as define } from 'pawl';
import { topics } from './topics.ts';
import { book } from './book.ts';
const producers = { poll: { publishes: ['nope'], handler: async () => {} } }; //! undeclared-topic
const flow = define({ name: 'x', topics, producers });
flow.consumer('book', { ...book, state: 0 });
export default flow;
`,
      'topics.ts': `export const topics = {
  a: {},
  b: {}, //! unread-topic
};
`,
      'book.ts': `const subscribe = ['a',
  'c']; //! undeclared-topic
export const book = {
  subscribe,
  prepare: async () => {},
};
`,
    }));

  test('in a workflow that another file exports', async (t) =>
    assertMarked(t, {
      'flow.ts': `export { flow as default } from './lib/flow.ts';\n`,
      'lib/flow.ts': `import * as pawl from 'pawl';
export const flow = pawl.defineWorkflow({ name: 'x', topics: { a: {} } })
  .consumer('c', { subscribe: ['b'], prepare: async () => {} }); //! undeclared-topic
`.replace('topics: { a: {} } })', 'topics: { a: {} } }) //! unread-topic'),
    }));

  test('made by code: the line of the workflow, and a warning that its phases were not read', async (t) =>
    assertMarked(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
const flow = defineWorkflow({ name: 'x', topics: { a: {}, b: {} } }); //! unchecked-phase, unchecked-phase
for (const name of ['a', 'b']) flow.consumer(name, { subscribe: [name], prepare: async () => {} });
export default flow;
`,
    }));

  test('a phase made by code is a warning on its line', async (t) =>
    assertMarked(t, {
      'flow.ts': `import { defineWorkflow } from 'pawl';
const made = (n) => async () => n;
export default defineWorkflow({ name: 'x', topics: { a: {} } }).consumer('c', {
  subscribe: ['a'],
  prepare: made(1), //! unchecked-phase
});
`,
    }));
});

test('a finding says where, what, why and how to mend it', async (t) => {
  const folder = written(t, {
    'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {} } }).consumer('c', { subscribe: ['b'], prepare: async () => {} });
`,
  });
  assert.deepEqual((await findingsOf(join(folder, 'flow.ts'))).at(-1), {
    severity: 'error',
    code: 'undeclared-topic',
    message: 'topic "b" of c is not declared',
    why: 'a workflow names its topics in one place, so that a slip of the pen does not lose events',
    fix: "add it to topics: { 'b': {} }, or use one of a",
    file: join(folder, 'flow.ts'),
    line: 2,
    column: 93,
  });
});

test('a topic listed twice counts once, and is only a warning', async (t) => {
  const folder = written(t, {
    'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'x', topics: { a: {}, b: {} } }).consumer('c', {
  subscribe: ['a', 'b', 'a'],
  prepare: async () => {},
});
`,
  });
  const { handlers, findings } = await compiled(join(folder, 'flow.ts'));
  assert.deepEqual(handlers.consumers[0]?.subscribe, ['a', 'b']);
  assert.deepEqual(findings, [
    {
      severity: 'warning',
      code: 'repeated-topic',
      message: 'subscribe of c lists topic "a" more than once',
      why: 'it counts once, so perhaps another topic was meant',
      fix: "write subscribe: ['a', 'b'], or name the topic that was meant",
      file: join(folder, 'flow.ts'),
      line: 3,
      column: 25,
    },
  ]);
});

test('a topic may have a name of several parts', async (t) =>
  assertMarked(t, {
    'flow.ts': `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'my-flow_2', topics: { 'shop/order:placed.v2': {} } })
  .consumer('c', { subscribe: ['shop/order:placed.v2'], prepare: async () => {} });
`,
  }));

test('a producer without a schedule runs when a person says so', async (t) => {
  const folder = written(t, {
    'flow.js': `const { defineWorkflow } = require('pawl');
module.exports = defineWorkflow({ name: 'x', topics: { a: {} } })
  .producer('p', { publishes: ['a'], async handler(ctx) { ctx.publish('a', { messageId: '1', payload: 1 }); } })
  .consumer('c', { subscribe: ['a'], async prepare(ctx) { return ctx.idle(); } });
`,
  });
  const { schedules, findings } = await compiled(join(folder, 'flow.js'));
  assert.deepEqual([schedules, findings], [{}, []]);
});
