import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageVersion } from '#base';
import { Api } from './api.ts';
import { GIVEN } from './scripts.ts';

test('one process with its data to itself is listed, and cannot be cordoned or drained', async (t) => {
  const api = await Api.open(t);
  const { items, shared } = await api.ok(api.get('/api/workers'));
  assert.equal(shared, false);
  assert.equal(items.length, 1);
  const [{ name, pool, version, state, status, load, concurrency }] = items;
  assert.deepEqual(
    [name, pool, version, state, status, load, concurrency],
    ['pawl', 'default', packageVersion(), 'alive', 'open', 0, 64],
  );
  const shown = await api.ok(api.get(`/api/show/${items[0].id}`));
  assert.deepEqual(
    [shown.kind, shown.row.name, shown.row.leaseUntil, shown.row.endedAt],
    ['worker', 'pawl', null, null],
  );
  for (const verb of ['cordon', 'uncordon', 'drain']) {
    const refused = await api.post(`/api/workers/pawl/${verb}`);
    assert.equal(refused.status, 409, verb);
    assert.match(refused.body.detail, /is one process/);
    assert.deepEqual(refused.body.next[0].argv, ['pawl', 'pause', 'WORKFLOW']);
  }
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.until('it is done', () => api.stage.events('placed').every((each) => each.endsWith('consumed')));
});
