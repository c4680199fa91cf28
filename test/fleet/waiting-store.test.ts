import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Fleet, LEASE_MS, missingFor } from './fleet.ts';

// A worker whose store stands in line for longer than a lease: it is busy, not dead.

const options = { timeout: 240_000, skip: missingFor() };
let fleet: Fleet;
before(async () => {
  if (missingFor() === false) fleet = await Fleet.open({ callMs: 60_000 });
});
after(() => fleet?.close());

test('a worker that waits for a lock beyond its lease keeps what it has', options, async (t) => {
  const { service } = fleet;
  await fleet.executor();
  for (const name of ['held', 'locked']) await fleet.deploy(name);
  const worker = await fleet.worker();
  for (const name of ['held', 'locked']) service.heldLooks.add(name);
  await fleet.order('held', 'held');
  await fleet.order('locked', 'locked');
  await fleet.until('both are looked at', () => service.has('look', 'held') && service.has('look', 'locked'));
  await fleet.worker();
  const somebody = new Client({ connectionString: fleet.url });
  await somebody.connect();
  t.after(() => somebody.end());
  await somebody.query('BEGIN');
  await somebody.query(`SELECT 1 FROM workflows WHERE name = 'locked' FOR UPDATE`);
  service.release('locked');
  await sleep(LEASE_MS * 2.5);
  const ends = async () => (await fleet.reader.table('executions')).map(({ status }) => status).sort();
  assert.deepEqual(await ends(), ['running', 'running'], 'nobody took over from a worker that is alive');
  await somebody.query('ROLLBACK');
  service.release('held');
  await fleet.settled(['held', 'locked']);
  assert.equal((await ends()).includes('abandoned'), false);
  assert.equal((await worker.end('SIGTERM')).code, 0);
});
