import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, type Json } from './api.ts';
import { GIVEN, POLLED } from './scripts.ts';

test('lists are filtered, searched and paged, and only `next` says where they end', async (t) => {
  const api = await Api.open(t);
  const { outside } = api.stage;
  outside.pages.set(
    '/orders',
    ['o1', 'o2', 'o3', 'p1', 'p2'].map((id) => ({ id })),
  );
  const { version, script } = await api.deploy(POLLED);
  await api.stage.quiet();
  const titles = async (path: string): Promise<string[]> =>
    (await api.ok(api.get(path))).items.map((item: Json) => item.title ?? item.messageId ?? item.handlerName);

  await t.test('by a part of what people read, in any case', async () => {
    assert.deepEqual(await titles('/api/inputs?q=ORDER%20o'), ['Order o3', 'Order o2', 'Order o1']);
    assert.deepEqual(await titles('/api/outputs?q=book%20p'), ['Book p2', 'Book p1']);
    assert.deepEqual(await titles('/api/events?topic=placed&q=order%20p1'), ['Order p1']);
    assert.deepEqual(await titles('/api/inputs?q=%25'), [], 'a percent sign is a percent sign');
    assert.deepEqual(await titles('/api/inputs?q=Order_o1'), [], 'and what stands for any letter elsewhere is itself');
    assert.deepEqual(await titles('/api/runs?q=poll'), ['poll']);
    assert.equal((await api.ok(api.get('/api/sessions?q=schedule'))).items.length, 1);
    assert.deepEqual((await api.ok(api.get('/api/workflows?q=ORD'))).items.length, 1);
    assert.deepEqual((await api.ok(api.get('/api/workflows/orders/versions?q=1.0'))).items.length, 1);
    assert.deepEqual((await api.ok(api.get('/api/workflows/orders/logs?q=POLLED'))).items.length, 1);
    assert.deepEqual((await api.ok(api.get('/api/connections?q=sho'))).items.length, 1);
  });

  await t.test('by what they are', async () => {
    assert.equal((await titles('/api/outputs?handler=book')).length, 5);
    assert.equal((await titles('/api/outputs?connection=shop&method=put')).length, 1);
    assert.equal((await titles(`/api/outputs?version=${script}`)).length, 6);
    assert.equal((await titles(`/api/workflows/orders/outputs?version=${version}`)).length, 6);
    assert.deepEqual(await titles('/api/outputs?status=failed'), []);
    assert.deepEqual(await titles('/api/workflows/orders/outputs?status=indeterminate'), []);
    assert.equal((await titles('/api/workflows/orders/runs?status=committed&handler=book')).length, 5);
    assert.deepEqual(await titles('/api/workflows/orders/runs?status=crashed'), []);
    assert.deepEqual(await titles('/api/inputs?source=nowhere'), []);
    assert.deepEqual(await titles('/api/events?status=parked'), []);
    const [session] = (await api.ok(api.get('/api/sessions'))).items;
    const { items } = await api.ok(api.get(`/api/runs?session=${session.id}`));
    assert.ok(items.length > 0 && items.every((run: Json) => run.scriptRunId === session.id));
  });

  await t.test('by time, and in either order', async () => {
    const { items } = await api.ok(api.get('/api/inputs?order=oldest'));
    assert.deepEqual(
      items.map((item: Json) => item.title),
      ['Order o1', 'Order o2', 'Order o3', 'Order p1', 'Order p2'],
    );
    const [{ createdAt }] = items;
    assert.equal((await titles(`/api/inputs?from=${createdAt}`)).length, 5);
    assert.equal((await titles(`/api/inputs?to=${createdAt}`)).length, 0);
    assert.equal((await titles(`/api/inputs?from=${createdAt + 60_000}`)).length, 0);
  });

  await t.test('page by page, with a filter too, each once', async () => {
    for (const path of ['/api/inputs?limit=2', '/api/inputs?limit=2&q=order', '/api/inputs?limit=2&order=oldest']) {
      const seen: string[] = [];
      let after = '';
      for (let pages = 0; pages < 10; pages++) {
        const { items, next } = await api.ok(api.get(`${path}${after === '' ? '' : `&after=${after}`}`));
        seen.push(...items.map((item: Json) => item.title));
        if (next === null) break;
        after = next;
      }
      assert.deepEqual(seen.sort(), ['Order o1', 'Order o2', 'Order o3', 'Order p1', 'Order p2'], path);
    }
  });

  await t.test('what a list does not know is refused', async () => {
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'order=sideways',
      'from=yesterday',
      'stats=done',
      'status=odd',
    ]) {
      await api.refused(api.get(`/api/inputs?${query}`), 400, 'invalid');
    }
    await api.refused(api.get('/api/inputs?workflow=nobody'), 404, 'not-found');
  });
});

test('everything at a glance', async (t) => {
  const api = await Api.open(t);
  const { outside } = api.stage;
  outside.pages.set('/orders', [{ id: 'o1' }, { id: 'o2' }]);
  await api.deploy(POLLED);
  await api.stage.quiet();
  await api.ok(api.post('/api/workflows/orders/pause'));
  await api.publish('orders', 'o3');

  const overview = await api.ok(api.get('/api/overview'));
  assert.deepEqual(overview.needs, { total: 0, kinds: {} });
  assert.deepEqual(overview.workflows, { paused: 1 });
  assert.deepEqual([overview.lastDay.inputs, overview.lastDay.outputs, overview.lastDay.done], [2, 3, 3]);
  assert.equal(overview.backlog.pending, 1);

  const { items } = await api.ok(api.get('/api/backlog'));
  assert.deepEqual(
    items.map((item: Json) => [item.name, item.pending]),
    [['orders', 1]],
  );
  assert.ok(items[0].ageMs >= 0 && items[0].ageMs < 60_000);

  const chart = await api.ok(api.get('/api/chart?per=hour'));
  assert.equal(chart.items.length, 48);
  const sum = (field: string) => chart.items.reduce((total: number, each: Json) => total + each[field], 0);
  assert.deepEqual([sum('inputs'), sum('outputs'), sum('done'), sum('failed')], [2, 3, 3, 0]);
  const byDay = await api.ok(api.get('/api/chart?per=day&workflow=orders'));
  assert.equal(byDay.items.at(-1).inputs + byDay.items.at(-2).inputs, 2);
  await api.refused(api.get('/api/chart?per=hour&from=0'), 400, 'invalid');

  const graph = await api.ok(api.get('/api/workflows/orders/graph'));
  assert.deepEqual(
    graph.topics.map((topic: Json) => [topic.name, topic.pending]),
    [
      ['placed', 1],
      ['booked', 0],
    ],
  );
  assert.deepEqual(
    [...graph.producers, ...graph.consumers].map((each: Json) => each.name),
    ['poll', 'book', 'tell'],
  );
  assert.deepEqual(graph.connections, [{ name: 'shop', type: 'http', status: 'ok' }]);

  const kinds = async (q: string): Promise<string[]> =>
    (await api.ok(api.get(`/api/search?q=${encodeURIComponent(q)}`))).items.map(
      (item: Json) => `${item.kind} ${item.title}`,
    );
  assert.deepEqual(await kinds('orders'), ['workflow orders', ...(await kinds('orders')).slice(1)]);
  assert.ok((await kinds('Order o1')).includes('input Order o1'));
  assert.ok((await kinds('book o1')).includes('output Book o1'));
  const [run] = (await api.ok(api.get('/api/runs?limit=1'))).items;
  assert.deepEqual(await kinds(run.id), [`run ${run.handlerName}`]);
});

test('a workflow without a version has an empty graph', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN, { activate: false });
  const graph = await api.ok(api.get('/api/workflows/orders/graph'));
  assert.deepEqual([graph.version, graph.consumers], [null, []]);
});

test('a version is shown with what its author wrote', async (t) => {
  const api = await Api.open(t);
  const { script } = await api.deploy(GIVEN);
  const shown = await api.ok(api.get(`/api/versions/${script}`));
  const [source] = shown.sources;
  assert.equal(source.file, 'orders.ts');
  assert.match(source.text, /topic<\{ id: string \}>/);
  assert.ok(shown.sources.every((each: Json) => !/^(pawl|npm):/.test(each.file)));
  await api.refused(api.get('/api/versions/scr_404'), 404, 'not-found');
  await api.refused(api.get('/api/versions/run_404'), 400, 'malformed-id');
});

test('a script is checked without being kept', async (t) => {
  const api = await Api.open(t);
  const { name, code, sourceMap } = await api.bundled(GIVEN);
  assert.deepEqual((await api.ok(api.post('/api/validate', { name, code, sourceMap }))).valid, true);
  const broken = await api.ok(api.post('/api/validate', { name, code: 'throw new Error("x")', sourceMap }));
  assert.deepEqual([broken.valid, broken.findings[0].code], [false, 'top-level-throws']);
  assert.deepEqual((await api.ok(api.get('/api/workflows'))).items, []);
});
