// Exactly what happened is visible: what came in, what went out and why, in the words of the command line; also after a retry.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders, POLL, TELL } from './scripts.ts';
import { Stage } from './stage.ts';

interface Listed {
  readonly items: readonly Record<string, unknown>[];
}

interface Story {
  readonly story: readonly string[];
}

test('inputs, outputs and stories, before and after a retry', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { keyboard, outside } = stage;
  outside.pages.set('/orders', [{ id: '1' }, { id: '2' }]);
  await stage.deploy(orders({ more: POLL + TELL, next: "if (data.id === '1') throw new Error('a bug in next');" }));
  await stage.untilRun('failed:logic');

  await t.test('while a run waits for its repair, its input waits and the other is pending', async () => {
    const { items } = await keyboard.json<Listed>('inputs', 'orders');
    assert.deepEqual(items.map(({ title, state }) => `${title} ${state}`).toSorted(), [
      'Order 1 waiting',
      'Order 2 pending',
    ]);
  });

  await stage.deploy(orders({ more: POLL + TELL }));
  await stage.quiet();

  await t.test(
    'outputs show title, the call as the host saw it, the inputs that caused it, version and status',
    async () => {
      const { items } = await keyboard.json<Listed>('outputs', 'orders');
      assert.deepEqual(items.map(({ title, version, status }) => `${title}, ${version}, ${status}`).toReversed(), [
        'Book 1, 1.0, applied',
        'Book 2, 1.1, applied',
        'Tell of 1, 1.1, applied',
        'Tell of 2, 1.1, applied',
      ]);
      const causes = items.map((item) => (item.inputs as { title: string }[]).map(({ title }) => title)).toReversed();
      assert.deepEqual(causes, [['Order 1'], ['Order 2'], ['Order 1'], ['Order 2']], 'through next and its retry');
      assert.match(String(items.at(-1)?.preview), /POST .*\/bookings/);
      assert.match(String(items.at(-1)?.preview), /"id": ?"1"/);
      const words = await keyboard.ok('outputs', 'orders');
      for (const word of ['Book 1', 'POST', '/bookings', 'Order 1', '1.0', 'done']) {
        assert.ok(words.includes(word), `${word} is in\n${words}`);
      }
    },
  );

  await t.test('inputs are done, and say what came of each', async () => {
    const { items } = await keyboard.json<Listed>('inputs', 'orders');
    const came = items.map(({ title, state, outputs }) => [
      title,
      state,
      (outputs as { title: string }[]).map((each) => each.title),
    ]);
    assert.deepEqual(came.toSorted(), [
      ['Order 1', 'done', ['Book 1', 'Tell of 1']],
      ['Order 2', 'done', ['Book 2', 'Tell of 2']],
    ]);
    assert.match(await keyboard.ok('inputs', 'orders'), /Order 1.*done/);
  });

  await t.test('the story of an input, a run, an event and an output is told in plain sentences', async () => {
    const [output] = stage.reader.table('mutations');
    const [input] = stage.reader.table('inputs');
    const [, failed] = stage.reader.table('handler_runs');
    for (const id of [input?.id, failed?.id, output?.id, stage.event('1').id]) {
      const { story } = await keyboard.json<Story>('explain', id ?? '');
      const text = story.join('\n');
      assert.match(text, /book began as/, text);
      assert.match(text, /recorded, to be sent: "Book 1", POST/, text);
      assert.match(text, /book failed by a mistake in the script: .*a bug in next/, text);
      assert.match(text, /book went on where .* had stopped/, text);
      assert.match(text, /book committed and published booked 1/, text);
    }
    const words = await keyboard.ok('explain', input?.id ?? '');
    assert.match(words, /shop order 1 came in: Order 1/);
    assert.match(words, /Now: done: 2 events, 2 outputs: done; done/);
  });
});

test('a skipped input and a person’s answer are told as such', async (t) => {
  const stage = await Stage.atKeyboard(t);
  stage.outside.pages.set('/orders', [{ id: '1' }]);
  stage.outside.behave({ after: 'drop' });
  await stage.deploy(orders({ more: POLL }));
  await stage.untilRun('paused:reconciliation');
  const unknown = await stage.keyboard.ok('outputs', 'orders');
  assert.match(unknown, /unknown/);
  await stage.person.resolve(stage.mutation().id, 'skip');
  await stage.quiet();
  assert.match(await stage.keyboard.ok('outputs', 'orders'), /skipped by ada/);
  assert.match(await stage.keyboard.ok('inputs', 'orders'), /Order 1.*skipped/);
  const story = await stage.keyboard.ok('explain', stage.mutation().id);
  assert.match(story, /stopped: nobody knows whether its call happened/);
  assert.match(story, /skipped by ada/);
});
