import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from './api.ts';
import { GIVEN, HOOKED } from './scripts.ts';

async function metricsOf(api: Api): Promise<string> {
  const answer = await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${api.token}` } });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return answer.text();
}

/** A page is good for a few seconds. */
async function later(api: Api): Promise<string> {
  api.stage.clock.aheadMs += 6_000;
  return metricsOf(api);
}

const measured = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

test('whoever looks after processes hears a word, needs no token, and learns nothing', async (t) => {
  const api = await Api.open(t);
  for (const [path, word] of [
    ['/health', 'ok'],
    ['/ready', 'ready'],
  ]) {
    const answer = await fetch(`${api.url}${path}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), { schema: 1, status: word });
  }
});

test('a process on its way out is alive, takes no work, and says so while it drains', async (t) => {
  const api = await Api.open(t);
  await api.stage.app.drain();
  assert.equal((await fetch(`${api.url}/health`)).status, 200);
  const answer = await fetch(`${api.url}/ready`);
  const { code, retryable } = (await answer.json()) as { code: string; retryable: boolean };
  assert.deepEqual([answer.status, code, retryable], [503, 'draining', true]);
  assert.equal(measured(await metricsOf(api), 'pawl_draining'), 1);
});

test('what came in, what was done and what waits can be read by a monitoring system', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1', 'o2');
  await api.stage.quiet();
  const good = await metricsOf(api);
  assert.equal(measured(good, 'pawl_events_accepted_total{workflow="orders"}'), 4);
  assert.equal(measured(good, 'pawl_events_settled_total{workflow="orders",outcome="consumed"}'), 4);
  assert.ok((measured(good, 'pawl_runs_total{workflow="orders",status="committed"}') ?? 0) >= 3);
  assert.ok((measured(good, 'pawl_calls_total{connection="shop",outcome="applied"}') ?? 0) >= 3);
  assert.equal(measured(good, 'pawl_events_pending{workflow="orders"}'), undefined, 'nothing waits');
  assert.equal(measured(good, 'pawl_calls_waiting{waits="unknown"}'), 0);
  assert.ok((measured(good, 'pawl_commit_seconds_count') ?? 0) > 5);
  assert.equal(measured(good, 'pawl_sandbox_children'), api.stage.app.sandbox.pids.length);
  assert.ok((measured(good, 'process_resident_memory_bytes') ?? 0) > 10_000_000);

  api.stage.outside.behave({ after: 'drop' });
  await api.publish('orders', 'o3', 'o4', 'o5');
  await api.stage.until('it asks', () => api.stage.workflow().holds.includes('unknown'));
  const bad = await later(api);
  assert.equal(measured(bad, 'pawl_calls_total{connection="shop",outcome="unknown"}'), 1);
  assert.equal(measured(bad, 'pawl_calls_waiting{waits="unknown"}'), 1);
  assert.equal(measured(bad, 'pawl_needs{kind="unknown"}'), 1);
  assert.equal(measured(bad, 'pawl_events_pending{workflow="orders"}'), 2);
  assert.ok((measured(bad, 'pawl_events_pending_oldest_seconds{workflow="orders"}') ?? 0) >= 6);
  for (const secret of ['o3', 'Order', 'bookings']) assert.ok(!bad.includes(secret), `${secret} is nobody’s business`);
});

test('deliveries that wait are measured too', async (t) => {
  const api = await Api.open(t);
  const { workflow } = await api.deploy(HOOKED);
  await api.stage.manager.pauseWorkflow(workflow, 'ada');
  for (const deliveryId of ['d1', 'd2'])
    await api.stage.manager.acceptDelivery(workflow, { hook: 'signed', deliveryId, headers: '{}', body: '{}' });
  const page = await metricsOf(api);
  assert.equal(measured(page, 'pawl_deliveries_pending{workflow="hooked"}'), 2);
  assert.ok((measured(page, 'pawl_deliveries_pending_oldest_seconds{workflow="hooked"}') ?? -1) >= 0);
});

test('however many ask, what has to be read is read once in a while', async (t) => {
  const api = await Api.open(t);
  const [one, two, three] = await Promise.all([metricsOf(api), metricsOf(api), metricsOf(api)]);
  assert.ok(one === two && two === three, 'one page for all');
  assert.notEqual(await later(api), one);
});
