import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock, type WorkflowId } from '#base';
import { type Engine, joinFleet, openEngine } from '#execution';
import { INVARIANTS } from '#model';
import { exportWorkflow, importWorkflow } from '#transfer';
import { orders, POLL, TELL } from '../e2e/scripts.ts';
import { BOOKED, Stage } from '../e2e/stage.ts';
import { applyAndEmit, beginSession, CALL, deploy, PERSON, placed, prepareAndCall } from '../support/fixture.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

// One workflow from one engine to another: with all it has done, and without doing anything of it again.

const by = PERSON;

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-transfer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function engineIn(t: TestContext): Promise<Engine> {
  const engine = await openEngine({ dataDir: temporaryFolder(t) });
  t.after(() => engine.close());
  return engine;
}

async function bookOne({ manager, self }: Engine, workflow: WorkflowId, id: string): Promise<void> {
  const fence = await beginSession(manager, workflow, self);
  const { run } = await manager.startRun(fence, 'book');
  const reservations = [{ topic: 'order.placed', ids: [id] }];
  const { mutation } = await prepareAndCall(manager, fence, run, reservations, CALL);
  assert.ok(mutation);
  await manager.keepRecords(fence, run, {
    logs: [{ position: 0, at: 1, message: 'hello', data: '{"a":1}' }],
    reads: [{ position: 0, at: 1, connection: 'shop', method: 'get', request: '{}', answer: '{"cost":1.5}' }],
  });
  await applyAndEmit(manager, fence, run, mutation);
  await manager.commitConsumer(fence, run, { publishes: [{ topic: 'order.booked', payload: '{}' }], cost: 0.25 });
  await manager.finishSession(fence);
}

/** One of everything: booked, pending, parked, a delivery, an input, a call in flight, a task that was closed. */
async function busyWorkflow(engine: Engine, name = 'orders'): Promise<WorkflowId> {
  const { manager, self } = engine;
  const workflow = await deploy(manager, name);
  const delivery = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{"x":1}' };
  const accepted = await manager.acceptDelivery(workflow, delivery);
  await manager.acceptDelivery(workflow, { ...delivery, deliveryId: 'd2' });
  const fence = await beginSession(manager, workflow, self);
  const hook = await manager.startRun(fence, 'hook', { delivery: accepted.delivery });
  const inputs = [{ source: 'mail', type: 'letter', id: 'm1', title: 'From Bob' }];
  await manager.commitProducer(fence, hook.run, {
    inputs,
    publishes: [{ ...placed('1'), input: 0 }],
    state: '{"n":1}',
  });
  await manager.finishSession(fence);
  await bookOne(engine, workflow, '1');
  const { published } = await manager.publishEvents(workflow, [placed('2'), placed('3'), placed('4')], by);
  assert.ok(published[1]);
  await manager.parkEvents([published[1]], by);
  const sending = await beginSession(manager, workflow, self);
  const { run } = await manager.startRun(sending, 'book');
  const reservations = [{ topic: 'order.placed', ids: ['2'] }];
  await prepareAndCall(manager, sending, run, reservations, { ...CALL, canReconcile: true });
  return workflow;
}

async function rowOf(engine: Engine, id: WorkflowId) {
  const [row] = await engine.reader.fetch('workflow', id);
  assert.ok(row);
  return row;
}

async function assertSound({ reader }: Engine): Promise<void> {
  for (const { name, sql } of INVARIANTS) assert.deepEqual(await reader.offenders(sql), [], name);
}

const SAME = ['scripts', 'script_runs', 'inputs', 'event_inputs', 'deliveries', 'run_logs', 'run_reads'] as const;

async function countsOf({ reader }: Engine) {
  const tables = [...SAME, 'handler_runs', 'events', 'mutations', 'enforcements', 'executions'] as const;
  return Promise.all(tables.map(async (table) => [table, (await reader.table(table)).length]));
}

async function moves(from: Engine, to: Engine, file: string): Promise<void> {
  const workflow = await busyWorkflow(from);
  const before = await countsOf(from);
  const { rows, goesOn } = await exportWorkflow({ engine: from, clock: systemClock }, await rowOf(from, workflow), {
    file,
    by,
  });
  assert.equal(goesOn, true, 'it was not paused');
  const imported = await importWorkflow({ engine: to, clock: systemClock }, { file, by: 'grace' });
  // What people did there is told by the file, and neither put in nor counted.
  assert.match(readFileSync(file, 'utf8'), /"table":"acts"/);
  assert.deepEqual(imported, { workflow, name: 'orders', status: 'paused', rows, unknown: 1 });
  assert.deepEqual(await countsOf(to), before);
  for (const table of SAME) {
    const there = (await from.reader.table(table)).filter((row) => table !== 'script_runs' || isOver(row));
    const here = await to.reader.table(table);
    for (const row of there)
      assert.ok(
        here.some((each) => JSON.stringify(each) === JSON.stringify(row)),
        table,
      );
  }
  const row = await rowOf(to, workflow);
  assert.deepEqual([row.status, row.holds, row.dueAt], ['paused', ['user', 'unknown'], null]);
  const calls = await to.reader.table('mutations');
  assert.deepEqual(
    calls.map(({ status }) => status).sort(),
    ['applied', 'indeterminate'],
    'in flight there, unknown here',
  );
  assert.deepEqual(
    calls.find(({ status }) => status === 'indeterminate')?.callEndedAt,
    null,
    'it may still land there',
  );
  const events = await to.reader.table('events');
  const states = Object.fromEntries(events.map(({ messageId, status }) => [messageId.replace(/^run_.*/, 'b'), status]));
  assert.deepEqual(states, { 1: 'consumed', 2: 'reserved', 3: 'parked', 4: 'pending', b: 'pending' });
  await assertSound(to);
  // What was handled there is handled here; what waits waits.
  await to.manager.publishEvents(workflow, [placed('1', '{"other":1}')], by);
  assert.equal((await to.reader.table('events')).length, events.length);
  assert.equal((await to.manager.acceptDelivery(workflow, D1)).duplicate, true);
  const [act] = (await to.reader.table('audit_log')).filter(({ act: done }) => done === 'import');
  assert.match(`${act?.actor} ${act?.detail}`, /^grace exported 20.* by ada$/);
}

const D1 = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };

function isOver(row: object): boolean {
  return 'endTimestamp' in row && row.endTimestamp !== null;
}

test('a workflow moves with all it has done, and nothing of it is done again', async (t) => {
  await moves(await engineIn(t), await engineIn(t), join(temporaryFolder(t), 'orders.pawl'));
});

onPostgres('from a folder to PostgreSQL, and from there to another folder', async (t) => {
  const { database, giveBack } = await borrowDatabase();
  const member = await joinFleet({ url: database.url, role: 'both', name: 'one', pool: 'default' });
  t.after(async () => {
    await member.engine.close();
    await giveBack();
  });
  const folder = temporaryFolder(t);
  const first = await engineIn(t);
  await moves(first, member.engine, join(folder, 'there.pawl'));
  const [workflow] = await member.engine.reader.table('workflows');
  assert.ok(workflow);
  const file = join(folder, 'back.pawl');
  const place = { engine: member.engine, clock: systemClock };
  const { goesOn } = await exportWorkflow(place, workflow, { file, by });
  assert.equal(goesOn, false, 'it is paused');
  const last = await engineIn(t);
  await importWorkflow({ engine: last, clock: systemClock }, { file, by });
  assert.deepEqual(await countsOf(last), await countsOf(member.engine));
  for (const table of ['handler_runs', 'events', 'mutations', ...SAME] as const) {
    const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();
    const there = await member.engine.reader.table(table);
    assert.deepEqual(sorted(await last.reader.table(table)), sorted(there), table);
  }
  await assertSound(last);
});

test('what was removed from history is known after a move too', async (t) => {
  const [from, to] = [await engineIn(t), await engineIn(t)];
  const workflow = await deploy(from.manager);
  await from.manager.publishEvents(workflow, [placed('1')], by);
  const [event] = await from.reader.table('events');
  assert.ok(event);
  await from.manager.skipEvents([event.id], by);
  await from.manager.pruneHistory(workflow, { before: Date.now(), events: [event.id] });
  const file = join(temporaryFolder(t), 'orders.pawl');
  await exportWorkflow({ engine: from, clock: systemClock }, await rowOf(from, workflow), { file, by });
  await importWorkflow({ engine: to, clock: systemClock }, { file, by });
  assert.deepEqual((await to.manager.publishEvents(workflow, [placed('1')], by)).published, [event.id]);
  assert.deepEqual(await to.reader.table('events'), []);
});

test('a name that is taken is refused, and another one can be given; the same workflow twice is refused', async (t) => {
  const [from, to] = [await engineIn(t), await engineIn(t)];
  const workflow = await busyWorkflow(from);
  await deploy(to.manager, 'orders');
  const file = join(temporaryFolder(t), 'orders.pawl');
  await exportWorkflow({ engine: from, clock: systemClock }, await rowOf(from, workflow), { file, by });
  const place = { engine: to, clock: systemClock };
  const before = await countsOf(to);
  await assert.rejects(importWorkflow(place, { file, by }), { code: 'wrong-state', message: /named orders already/ });
  assert.deepEqual(await countsOf(to), before);
  assert.equal((await importWorkflow(place, { file, name: 'moved', by })).name, 'moved');
  await assert.rejects(importWorkflow(place, { file, name: 'again', by }), { message: /is here already, as moved/ });
  const same = { engine: from, clock: systemClock };
  await assert.rejects(importWorkflow(same, { file, name: 'copy', by }), { message: /is here already, as orders/ });
  await assertSound(to);
});

/** Each makes another file of a whole one, and what must be said of it. */
const SPOILT: Readonly<Record<string, readonly [(text: string) => string | Buffer, string, RegExp]>> = {
  'one byte is another': [(text) => text.replace('"hello"', '"hullo"'), 'export-damaged', /checksum/],
  'the last line is missing': [(text) => withoutLast(text), 'export-damaged', /last line/],
  'the last line is cut': [(text) => text.slice(0, -20), 'export-damaged', /cannot be read|last line/],
  'half of it is missing': [(text) => text.slice(0, text.length / 2), 'export-damaged', /cannot be read|last line/],
  'a row is missing': [(text) => text.replace(/\n\["evt_[^\n]*/, ''), 'export-damaged', /checksum/],
  'it is empty': [() => '', 'export-damaged', /cannot be read/],
  'it is something else': [() => '{"hello":1}\n', 'export-damaged', /begin/],
  'it is no text': [() => Buffer.from([0xff, 0xfe, 0x00]), 'export-damaged', /not text/],
  'it is of a newer version': [
    (text) => sealed(text.replace('"version":1', '"version":2')),
    'export-newer',
    /version 2/,
  ],
  'its tables are newer': [(text) => sealed(text.replace(/"schema":\d+/, '"schema":999')), 'export-newer', /999/],
  'its rows are counted wrong': [(text) => sealed(text, 3), 'export-damaged', /should have 3 rows/],
  'a column is unknown': [(text) => sealed(text.replace('"message_id"', '"massage_id"')), 'export-damaged', /columns/],
  'a row is too short': [
    (text) => sealed(text.replace(/(\n\["evt_[^\n]*),[^,\n]*\]/, '$1]')),
    'export-damaged',
    /columns/,
  ],
  'a line is no row': [(text) => sealed(text.replace(/\n\["evt_[^\n]*/, '\n7')), 'export-damaged', /neither/],
  'a number is a word': [
    (text) => sealed(text.replace(/(\n\["scr_[^\n]*?),1,0,/, '$1,"one",0,')),
    'export-damaged',
    /major/,
  ],
  'a list is none': [(text) => sealed(text.replace('"[]"', '"[1]"')), 'export-damaged', /suspects|held/],
  'there is no workflow': [
    (text) => sealed(text.replace(/\n\{"table":"workflows"[^\n]*\n[^\n]*/, '')),
    'export-damaged',
    /one workflow/,
  ],
  'a status is made up': [
    (text) => sealed(text.replace('"consumed"', '"eaten"')),
    'export-damaged',
    /refused by the database/,
  ],
  'an event is of another workflow': [
    (text) => sealed(text.replace(/(\n\["evt_\w+",)"wf_\w+"/, '$1"wf_other"')),
    'invalid',
    /is not of/,
  ],
  'a run is missing': [(text) => sealed(text.replace(/\n\["run_[^\n]*/, '')), 'invalid', /not in the file/],
  'a run says another outcome than its call': [
    (text) => sealed(text.replace('"success"', '"failure"')),
    'invalid',
    /outcomes agree/,
  ],
};

function withoutLast(text: string): string {
  return `${text.trimEnd().split('\n').slice(0, -1).join('\n')}\n`;
}

/** By somebody who knows how checksums are made. */
function sealed(text: string, rows?: number): string {
  const before = withoutLast(text);
  const counted = before.split('\n').filter((line) => !line.startsWith('{') && line !== '').length;
  const sha256 = createHash('sha256').update(before).digest('hex');
  return `${before}${JSON.stringify({ end: true, rows: rows ?? counted, sha256 })}\n`;
}

test('a file that is not whole is refused with a reason, and nothing of it is put in', async (t) => {
  const [from, to] = [await engineIn(t), await engineIn(t)];
  const workflow = await busyWorkflow(from);
  const folder = temporaryFolder(t);
  const file = join(folder, 'orders.pawl');
  await exportWorkflow({ engine: from, clock: systemClock }, await rowOf(from, workflow), { file, by });
  const whole = readFileSync(file, 'utf8');
  const place = { engine: to, clock: systemClock };
  for (const [what, [spoil, code, says]] of Object.entries(SPOILT)) {
    await t.test(what, async () => {
      const other = join(folder, `${what.replaceAll(' ', '-')}.pawl`);
      const spoilt = spoil(whole);
      assert.notEqual(spoilt, whole);
      writeFileSync(other, spoilt);
      await assert.rejects(
        importWorkflow(place, { file: other, by }),
        (error: Error & { code: string; why: string }) => {
          assert.equal(error.code, code, `${error.message}: ${error.why}`);
          assert.match(`${error.message}: ${error.why}`, says);
          return true;
        },
      );
      assert.deepEqual(await to.reader.table('workflows'), []);
      assert.deepEqual(await to.reader.table('events'), []);
    });
  }
  await assert.rejects(importWorkflow(place, { file: join(folder, 'nowhere'), by }), { code: 'export-missing' });
  assert.equal((await importWorkflow(place, { file, by })).workflow, workflow, 'the whole one is put in');
});

test('a file that exists is left as it is, and one that cannot be written says so', async (t) => {
  const engine = await engineIn(t);
  const workflow = await deploy(engine.manager);
  const folder = temporaryFolder(t);
  const file = join(folder, 'orders.pawl');
  writeFileSync(file, 'mine');
  const place = { engine, clock: systemClock };
  const row = await rowOf(engine, workflow);
  await assert.rejects(exportWorkflow(place, row, { file, by }), { code: 'export-exists' });
  assert.equal(readFileSync(file, 'utf8'), 'mine');
  const nowhere = join(folder, 'no', 'such', 'folder');
  await assert.rejects(exportWorkflow(place, row, { file: nowhere, by }), { code: 'export-failed' });
  assert.equal(existsSync(`${nowhere}.unfinished`), false);
});

test('a workflow too large for one transaction is not exported', async (t) => {
  const engine = await engineIn(t);
  const workflow = await busyWorkflow(engine);
  await assert.rejects(engine.reader.workflowRows(workflow, 10), { code: 'too-many-rows' });
});

test('no secret is in a file, and whoever else uses the machine cannot read it', async (t) => {
  const stage = await Stage.open(t, { headers: { authorization: { secret: 'shop-token' } } });
  stage.secret = undefined;
  await stage.app.vault.set('shop-token', 'canary-secret-7f3a', by, []);
  stage.outside.pages.set('/orders', [{ id: 'o1' }]);
  const { workflow } = await stage.deploy(orders({ more: POLL + TELL }));
  await stage.quiet();
  assert.equal(stage.outside.effects.length, 2);
  const file = join(stage.folder, 'orders.pawl');
  await exportWorkflow(stage.app, stage.workflow(workflow), { file, by });
  const text = readFileSync(file, 'utf8');
  assert.match(text, /o1/, 'what it did is in it');
  const boxes = stage.reader.table('secrets').map(({ box }) => box ?? '');
  for (const hidden of ['canary-secret-7f3a', ...boxes]) assert.ok(!text.includes(hidden), 'a secret is in it');
  assert.doesNotMatch(text, /"table":"(?:secrets|tokens|grants|audit_log)"/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a workflow that was brought here goes on when a person lets it, and sends nothing twice', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders({ more: TELL }));
  await stage.publish(workflow, 'placed', { id: 'o1' }, { id: 'o2' });
  const isUnknown = () => stage.reader.table('mutations').at(-1)?.status === 'indeterminate';
  await stage.until('it is unknown', isUnknown);
  await stage.person.pause(workflow);
  const file = join(stage.folder, 'orders.pawl');
  const { goesOn } = await exportWorkflow(stage.app, stage.workflow(workflow), { file, by });
  assert.equal(goesOn, false);
  const other = await Stage.open(t);
  other.shop = { baseUrl: stage.outside.url };
  await other.restart();
  await importWorkflow(other.app, { file, by });
  assert.equal(other.mutation().status, 'indeterminate');
  await assert.rejects(other.manager.resumeWorkflow(workflow, by), 'an unknown call stands in the way');
  await other.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings o1'], 'nothing was sent by bringing it here');
  await other.person.resolve(other.mutation().id, 'happened', BOOKED);
  await other.person.resume(workflow);
  await other.quiet();
  assert.equal(other.mutation().status, 'pending', 'what it was allowed there it must be allowed here');
  const grants = [{ connection: 'shop', method: 'post', targets: ['*'], capPerHour: null }];
  await other.manager.giveGrants(workflow, grants, by);
  await other.manager.approveCall(other.mutation().id, by);
  await other.quiet();
  assert.deepEqual(stage.outside.done.sort(), ['/bookings o1', '/bookings o2', '/told o1', '/told o2']);
});
