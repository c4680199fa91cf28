import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, type Json } from './api.ts';
import { POLLED } from './scripts.ts';

const NOUNS = ['versions', 'sessions', 'runs', 'events', 'inputs', 'outputs', 'logs', 'state'];

test('exactly what happened is visible, from the input to the last output and back', async (t) => {
  const api = await Api.open(t);
  const { outside } = api.stage;
  outside.pages.set('/orders', [{ id: 'o1' }, { id: 'o2' }]);
  const { workflow } = await api.deploy(POLLED);
  await api.stage.quiet();

  await t.test('outputs: title, the call as the host saw it, the inputs behind it, version and status', async () => {
    const { items, next } = await api.ok(api.get('/api/workflows/orders/outputs'));
    assert.equal(next, null);
    assert.deepEqual(
      items.map((item: Json) => [item.title, item.version, item.words, item.handler, titles(item.inputs)]),
      [
        ['Tell of 2', '1.0', 'done', 'tell', ['Order o1', 'Order o2']],
        ['Book o2', '1.0', 'done', 'book', ['Order o2']],
        ['Book o1', '1.0', 'done', 'book', ['Order o1']],
      ],
    );
    assert.match(items[2].preview, /^POST http:\/\/127\.0\.0\.1:\d+\/bookings\n/);
    assert.match(items[2].preview, /"id": ?"o1"/);
    assert.deepEqual((await api.ok(api.get('/api/outputs?workflow=orders'))).items, items);
    assert.deepEqual((await api.ok(api.get('/api/outputs'))).items, items);
    assert.deepEqual((await api.ok(api.get('/api/workflows/orders/outputs?handler=tell'))).items, items.slice(0, 1));
    assert.deepEqual((await api.ok(api.get('/api/workflows/orders/outputs?status=failed'))).items, []);
  });

  await t.test('inputs: their state and what came of each, through the events published on the way', async () => {
    const { items } = await api.ok(api.get('/api/inputs?workflow=orders'));
    assert.deepEqual(
      items.map((item: Json) => [item.title, item.state, item.externalId, titles(item.outputs)]),
      [
        ['Order o2', 'done', 'o2', ['Book o2', 'Tell of 2']],
        ['Order o1', 'done', 'o1', ['Book o1', 'Tell of 2']],
      ],
    );
    assert.equal(items[0].sentence, 'done: 2 events, 2 outputs: done; done');
    assert.equal((await api.ok(api.get('/api/inputs?workflow=orders&status=pending'))).items.length, 0);
    assert.equal((await api.ok(api.get('/api/inputs'))).items.length, 2);
  });

  await t.test(
    'explain tells the story of an input, an event, a run, an output and a workflow in sentences',
    async () => {
      const [tell] = (await api.ok(api.get('/api/outputs'))).items;
      const [input] = (await api.ok(api.get('/api/inputs'))).items;
      const story: string[] = (await api.ok(api.get(`/api/explain/${input.id}`))).story;
      const order = [
        /shop order o2 came in: Order o2/,
        /placed o2 \(Order o2\) was published by poll/,
        /book began as run_\w+ \(version 1\.0/,
        /book took 1 event: placed o2/,
        /the call was recorded, to be sent: "Book o2", POST http:/,
        /the POST to shop is done/,
        /book committed and published booked o2/,
        /tell took 2 events: booked o1, booked o2/,
        /the PUT to shop is done/,
        /^Now: done: 2 events, 2 outputs/,
      ];
      const found = order.map((words) => story.findIndex((line) => words.test(line)));
      assert.ok(!found.includes(-1), `${found}\n${story.join('\n')}`);
      assert.deepEqual(
        found,
        [...found].sort((a, b) => a - b),
        story.join('\n'),
      );
      for (const id of [tell.id, tell.run, tell.events[0], 'orders', workflow]) {
        const explained = await api.ok(api.get(`/api/explain/${id}`));
        assert.ok(explained.story.length >= 2, id);
      }
      await api.refused(api.get('/api/explain/run_404'), 404, 'not-found');
      await api.refused(api.get('/api/explain/nonsense'), 404, 'not-found');
    },
  );

  await t.test('every list has pages, newest first but for events', async () => {
    for (const noun of NOUNS) {
      const all = await api.ok(api.get(`/api/workflows/orders/${noun}`));
      assert.ok(all.items.length > 0, noun);
      assert.equal(all.next, null, noun);
      if (noun === 'state') continue;
      const paged: Json[] = [];
      let after = '';
      do {
        const page = await api.ok(api.get(`/api/workflows/orders/${noun}?limit=1${after}`));
        paged.push(...page.items);
        after = page.next === null ? '' : `&after=${encodeURIComponent(page.next)}`;
      } while (after !== '');
      assert.deepEqual(paged, all.items, noun);
    }
    const runs = (await api.ok(api.get('/api/workflows/orders/runs?handler=book&status=committed'))).items;
    assert.ok(runs.length >= 2 && runs.every((run: Json) => run.handlerName === 'book' && run.startedAt > 0));
    const events = (await api.ok(api.get('/api/workflows/orders/events?topic=placed&status=consumed'))).items;
    assert.deepEqual(
      events.map((event: Json) => [event.messageId, event.payload]),
      [
        ['o1', { id: 'o1' }],
        ['o2', { id: 'o2' }],
      ],
    );
    const [line] = (await api.ok(api.get('/api/workflows/orders/logs'))).items;
    assert.deepEqual([line.handler, line.message, line.data], ['poll', 'polled', { count: 2 }]);
    const { items } = await api.ok(api.get('/api/workflows'));
    assert.deepEqual([items[0].name, items[0].version, items[0].pending], ['orders', '1.0', 0]);
    assert.equal((await api.ok(api.get(`/api/workflows/${workflow}`))).name, 'orders');
  });

  await t.test('show shows anything by its id', async () => {
    const { items: runs } = await api.ok(api.get('/api/workflows/orders/runs?handler=book&status=committed'));
    const { items: sessions } = await api.ok(api.get('/api/workflows/orders/sessions'));
    const { items: outputs } = await api.ok(api.get('/api/outputs'));
    const { items: inputs } = await api.ok(api.get('/api/inputs'));
    const { items: versions } = await api.ok(api.get('/api/workflows/orders/versions'));
    const shown = async (id: string) => api.ok(api.get(`/api/show/${id}`));
    const kinds = await Promise.all(
      ['orders', workflow, versions[0].id, sessions[0].id, sessions[0].executionId, runs.at(-1).id].map(shown),
    );
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['workflow', 'workflow', 'version', 'session', 'execution', 'run'],
    );
    const run = await shown(runs.find((each: Json) => each.prepareResult !== null).id);
    assert.match(run.output.title, /^Book o/);
    assert.equal(run.published.length, 1);
    const output = await shown(outputs[0].id);
    assert.deepEqual(
      [output.kind, output.row.words, output.row.result.status, output.inputs.length],
      ['output', 'done', 201, 2],
    );
    const input = await shown(inputs[0].id);
    assert.deepEqual([input.kind, input.row.state, input.events.length], ['input', 'done', 2]);
    assert.equal((await shown(outputs[0].events[0])).kind, 'event');
    await api.refused(api.get('/api/show/evt_404'), 404, 'not-found');
    await api.refused(api.get('/api/show/nothing'), 404, 'not-found');
  });

  await t.test('what does not fit a list is refused', async () => {
    for (const noun of NOUNS) await api.refused(api.get(`/api/workflows/nobody/${noun}`), 404, 'not-found');
    await api.refused(api.get('/api/workflows/nobody'), 404, 'not-found');
    await api.refused(api.get('/api/outputs?workflow=nobody'), 404, 'not-found');
    for (const query of ['limit=0', 'limit=x', 'limit=100000', 'status=nonsense']) {
      await api.refused(api.get(`/api/workflows/orders/runs?${query}`), 400, 'invalid');
    }
    await api.refused(api.get('/api/workflows/orders/logs?after=nonsense'), 400, 'invalid');
    for (const list of ['/api/workflows/orders/versions', '/api/notices'])
      for (const place of ['zzz', workflow, '1.0'])
        await api.refused(api.get(`${list}?after=${place}`), 400, 'invalid');
    for (const noun of ['sessions', 'runs', 'events', 'inputs', 'outputs']) {
      const { why } = await api.refused(api.get(`/api/workflows/orders/${noun}?after=zzz`), 400, 'invalid');
      assert.match(why, /^after: is no place in this list/);
      await api.refused(api.get(`/api/${noun}?after=${workflow}`), 400, 'invalid');
    }
    await api.refused(api.get('/api/status?limit=-1'), 400, 'invalid');
  });
});

function titles(things: readonly { title: string }[]): string[] {
  return things.map(({ title }) => title);
}
