import assert from 'node:assert/strict';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { DEFINITION } from 'pawl';
import { ScriptInvalidError } from '#script';
import literal from '../sdk/workflows/w0-literal.ts';
import oneByOne from '../sdk/workflows/w1-one-by-one.ts';
import batch from '../sdk/workflows/w2-batch.ts';
import digest from '../sdk/workflows/w3-digest.ts';
import correlate from '../sdk/workflows/w4-correlate.ts';
import fanout from '../sdk/workflows/w5-fanout.ts';
import webhook from '../sdk/workflows/w6-webhook.ts';
import mailSheet from '../sdk/workflows/w7-mail-sheet.ts';
import dbSlack, { config } from '../sdk/workflows/w8-db-slack.ts';
import { compiled, findingsOf, written } from './written.ts';

const folder = join(dirname(import.meta.dirname), 'sdk', 'workflows');

const WORKFLOWS = {
  'w0-literal.ts': { workflow: literal, unread: ['order.booked'] },
  'w2-batch.ts': { workflow: batch, unread: [] },
  'w3-digest.ts': { workflow: digest, unread: [] },
  'w4-correlate.ts': { workflow: correlate, unread: ['matched'] },
  'w5-fanout.ts': { workflow: fanout, unread: [] },
  'w6-webhook.ts': { workflow: webhook, unread: [] },
  'w7-mail-sheet.ts': { workflow: mailSheet, unread: ['filed'] },
  'w8-db-slack.ts': { workflow: dbSlack, unread: ['told', 'declined'] },
};

describe('workflows in both forms compile', () => {
  for (const [file, { workflow, unread }] of Object.entries(WORKFLOWS)) {
    test(file, async () => {
      const script = await compiled(join(folder, file));
      const definition = workflow[DEFINITION];
      assert.equal(script.name, definition.name);
      assert.deepEqual(script.uses, definition.uses);
      assert.deepEqual(script.handlers.topics, Object.keys(definition.topics));
      assert.deepEqual(
        script.handlers.consumers.map(({ name }) => name),
        Object.keys(definition.consumers),
      );
      assert.deepEqual(
        script.findings.map(({ severity, code, message }) => [severity, code, message]),
        unread.map((topic) => ['warning', 'unread-topic', `nobody reads topic "${topic}"`]),
      );
    });
  }
});

test('two consumers on one topic are refused, at the second', async () => {
  assert.equal(oneByOne[DEFINITION].name, 'orders');
  const file = join(folder, 'w1-one-by-one.ts');
  await assert.rejects(compiled(file), (error: unknown) => {
    assert.ok(error instanceof ScriptInvalidError);
    assert.equal(error.code, 'script-invalid');
    const [finding, ...others] = error.findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(others, []);
    assert.equal(finding?.code, 'second-consumer');
    assert.equal(finding?.fix, 'publish to two topics, one for each consumer');
    assert.equal(finding?.line, 45);
    assert.match(error.message, /w1-one-by-one\.ts cannot be deployed: .*w1-one-by-one\.ts:45:\d+ consumer book2/);
    assert.deepEqual(error.next.at(-1)?.argv, ['pawl', 'validate', file]);
    return true;
  });
});

test('a script may lie beside the config it is meant for', () => {
  assert.deepEqual(Object.keys(config.connections), Object.keys(dbSlack[DEFINITION].uses));
});

test('what a version declares is parsed', async () => {
  const batchScript = await compiled(join(folder, 'w2-batch.ts'));
  assert.deepEqual(batchScript.schedules, { sales: { cron: '0 * * * *', timeZone: 'Europe/Berlin' } });
  assert.deepEqual(batchScript.handlers, {
    topics: ['sale'],
    producers: [{ name: 'sales', publishes: ['sale'], webhook: false }],
    consumers: [{ name: 'report', subscribe: ['sale'], publishes: [], hasMutate: true, hasNext: true }],
  });
  const hook = await compiled(join(folder, 'w6-webhook.ts'));
  assert.deepEqual(hook.webhooks, { github: { verify: 'github' } });
  assert.deepEqual(hook.handlers.producers, [{ name: 'github', publishes: ['push'], webhook: true }]);
  assert.deepEqual((await compiled(join(folder, 'w8-db-slack.ts'))).schedules, { new: { intervalMs: 30_000 } });
});

test('the file is named as it was given', async () => {
  const given = relative(process.cwd(), join(folder, 'w4-correlate.ts'));
  assert.deepEqual(
    (await findingsOf(given)).map(({ file }) => file),
    [given],
  );
});

test('the example of the documentation compiles', async (t) => {
  const text = `import { defineWorkflow } from 'pawl';
export default defineWorkflow({
  name: 'orders',
  uses: { shop: 'http' },                              // bound to the connection of the same name in pawl.config.ts
  topics: { 'order.placed': {}, 'order.booked': {} },
  producers: {
    poll: {
      publishes: ['order.placed'], schedule: { interval: '5m' },
      async handler(ctx, state) {
        const { body } = await ctx.shop.get({ path: '/orders', query: { after: state?.cursor ?? '' } });
        for (const o of body) {
          const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: o.id, title: \`Order \${o.id}\` });
          ctx.publish('order.placed', { messageId: o.id, inputId, payload: o });
        }
        return { cursor: body.at(-1)?.id ?? state?.cursor };
      },
    },
  },
  consumers: {
    book: {
      subscribe: ['order.placed'], publishes: ['order.booked'],
      async prepare(ctx, state) {
        const [e] = await ctx.peek('order.placed', { limit: 1 });   // oldest pending first
        if (!e) return { reservations: [], data: {} };
        return { reservations: [{ topic: 'order.placed', ids: [e.messageId] }], data: e.payload, ui: { title: \`Book order \${e.payload.id}\` } };
      },
      async mutate(ctx, prepared) { return ctx.shop.post({ path: '/bookings', json: prepared.data }); },
      async next(ctx, prepared, mutationResult) {
        if (mutationResult.status === 'applied') ctx.publish('order.booked', { messageId: prepared.data.id, payload: mutationResult.result?.body ?? null });
        return { last: prepared.data.id };
      },
    },
  },
});
`;
  for (const file of ['orders.ts', 'orders.js', 'orders.mjs']) {
    const script = await compiled(join(written(t, { [file]: text }), file));
    assert.deepEqual(script.schedules, { poll: { intervalMs: 300_000 } });
    assert.deepEqual(
      script.findings.map(({ code, line }) => [code, line]),
      [['unread-topic', 5]],
    );
  }
});
