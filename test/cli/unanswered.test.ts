import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, type TestContext, test } from 'node:test';
import { startApp } from '#app';
import { joinFleet } from '#execution';
import { serve } from '#http';
import { freshDatabase, onPostgres, sharedServer } from '../support/postgres-world.ts';
import { type Typed, type } from './typed-terminal.ts';

// A fleet of which nobody answers: what the commands for that moment read in the database themselves.

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-unanswered-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SYMPTOMS = [
  'stuck in scheduled',
  'children not following',
  'duplicate updates',
  'cancelled but not shown',
  'workers at odds',
  'queue warnings',
  'nobody at work',
];

/** With a password that must never be seen; the server lets everybody in. */
async function fleet(t: TestContext) {
  const database = await freshDatabase();
  const endings = [() => database.drop()];
  t.after(async () => {
    for (const end of endings) await end();
  });
  const url = `${database.url}&password=hunter2`;
  const pawl = async (...argv: string[]): Promise<Typed> => {
    const typed = await type(argv, { env: { DATABASE_URL: url, PAWL_DATA: join(folder, 'data') } });
    assert.doesNotMatch(typed.out + typed.err, /hunter2/);
    return typed;
  };
  const executor = async () => {
    const place = { url, role: 'executor', name: 'desk' } as const;
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { recursive: true });
    const app = await startApp({ dataDir, fleet: place });
    const served = await serve(app, { port: 0, dataDir });
    let ending: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      ending ??= served.close().then(() => app.stop());
      await ending;
    };
    endings.unshift(stop);
    return stop;
  };
  return { database, url, pawl, executor, endings };
}

const WITHOUT_TIMES = (out: string): string => out.replaceAll(/\d+/g, 'N');

onPostgres('doctor and workers read the database where nobody answers, as an executor would tell it', async (t) => {
  const { database, url, pawl, executor, endings } = await fleet(t);
  const stop = await executor();
  const member = await joinFleet({ url, role: 'worker', name: 'alone', pool: 'heavy', concurrency: 3 });
  endings.unshift(() => member.engine.close());
  const asked = { doctor: await pawl('doctor'), workers: await pawl('workers', '--json') };
  assert.equal(asked.doctor.code, 0, asked.doctor.err);
  await stop();

  const doctor = await pawl('doctor', '--config', config({}));
  const [note, ...rest] = doctor.out.split('\n');
  assert.equal(doctor.code, 1, 'nobody schedules');
  assert.match(
    note ?? '',
    new RegExp(`^no engine answers at .*, so this was read from the database .*/${database.name} directly$`),
  );
  const says = 'nobody at work: somebody schedules what is due, and somebody runs what is handed off\n';
  const missed =
    '  processes: no executor is alive, so nobody schedules, unless alone is a `pawl start`: start `pawl executor`\n';
  assert.equal(rest.join('\n'), `${says}${missed}${asked.doctor.out.replace(`  ${says}`, '')}`);

  const listed = await pawl('workers', '--json');
  const { note: said, items, shared } = listed.json<{ note: string; items: { name: string }[]; shared: boolean }>();
  assert.equal(said, note);
  assert.equal(shared, true);
  const before = asked.workers.json<{ items: { name: string }[] }>().items.filter(({ name }) => name === 'alone');
  assert.equal(WITHOUT_TIMES(JSON.stringify(items)), WITHOUT_TIMES(JSON.stringify(before)));
  const table = await pawl('workers');
  assert.deepEqual([table.code, table.out.split('\n')[0]], [0, note]);
  assert.match(table.out, /\nWORKER +POOL +.*ALIVE UNTIL.*\nalone +heavy +.*alive +0\/3/);
});

onPostgres('work that is due while nobody schedules is found, and exit code 1 says so', async (t) => {
  const { database, pawl, executor } = await fleet(t);
  const stop = await executor();
  const script = join(folder, 'orders.ts');
  writeFileSync(script, SCRIPT);
  assert.equal((await pawl('deploy', script)).code, 0);
  await stop();
  const late = Date.now() - 120_000;
  await database.server.query(database.name, `UPDATE workflows SET due_at = ${late}`);
  const { code, out } = await pawl('doctor');
  assert.equal(code, 1, out);
  assert.match(out, /\n {2}processes: nobody is alive: start `pawl executor` and `pawl worker`, or `pawl start`\n/);
  assert.match(out, /directly; without a config \(--config\) every workflow counts as one of pool default\n/);
  assert.match(out, /children not following: .*\n {2}wf_.*nobody is alive who schedules; start `pawl executor`/);
  assert.match(out, /\n\d+ invariants hold\nlooked for, and found well:\n {2}stuck in scheduled: /);
  const { ok, items } = (await pawl('doctor', '--json')).json<{
    ok: boolean;
    items: { kind: string; name: string }[];
  }>();
  assert.equal(ok, false);
  assert.deepEqual(
    items.flatMap(({ kind, name }) => (kind === 'symptom' ? [name] : [])),
    SYMPTOMS,
  );
});

onPostgres('the pools and limits of a config that is named count', async (t) => {
  const { pawl, executor } = await fleet(t);
  await (await executor())();
  const limits = { pools: { heavy: ['crunch'] }, limits: { pools: { heavy: 8 } } };
  const { code, out } = await pawl('doctor', '--config', config(limits));
  assert.equal(code, 1, 'nobody is alive');
  assert.match(out, /limit pool:heavy: none counts for all processes, and the config of this one says 8/);
});

onPostgres('workflows that a config names and that are not here are told of, by an executor too', async (t) => {
  const { pawl, executor, url, endings } = await fleet(t);
  const stop = await executor();
  const script = join(folder, 'orders.ts');
  writeFileSync(script, SCRIPT);
  assert.equal((await pawl('deploy', script)).code, 0);
  const names = { pools: { heavy: ['orders', 'ordrs'] }, timeoutMs: { crunch: 8_000, orders: 8_000 } };
  await stop();
  const missing = [
    'fleet.pools.heavy: it names ordrs, which is no workflow here; did you mean orders?',
    'fleet.timeoutMs: it names crunch, which is no workflow here',
  ];
  const told = async () => (await pawl('doctor', '--config', config(names))).out.match(/^fleet\..*$/gm);
  assert.deepEqual(await told(), missing);

  const dataDir = join(folder, 'data');
  const place = { url, role: 'both', name: 'desk' } as const;
  const app = await startApp({ dataDir, fleet: place, config: { connections: {}, fleet: names } });
  const served = await serve(app, { port: 0, dataDir });
  endings.unshift(() => served.close().then(() => app.stop()));
  assert.deepEqual(await told(), missing);
  assert.equal((await pawl('doctor')).code, 0, 'they may be deployed later');
});

onPostgres('a database that is no fleet’s is said to be none, and nothing is put into it', async (t) => {
  const server = await sharedServer();
  const name = `pawl_empty_${process.pid}`;
  await server.createDatabase(name);
  t.after(() => server.dropDatabase(name));
  const env = { DATABASE_URL: server.url(name), PAWL_URL: 'http://127.0.0.1:9' };
  const tables = () => server.query(name, `SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public'`);
  const empty = await type(['doctor'], { env });
  assert.equal(empty.code, 7, empty.err);
  assert.match(empty.err, /nor can the database of DATABASE_URL be read: .* has no tables of Pawl \(/);
  assert.deepEqual(await tables(), [[0]]);
  await server.query(name, 'CREATE TABLE others (id int)');
  assert.match((await type(['workers'], { env })).err, /is not a Pawl database/);
  for (const [version, says] of [
    [9_999, /has schema version 9999, but this Pawl knows only up to/],
    [1, /has schema version 1, and this Pawl reads/],
  ] as const) {
    await server.query(name, `CREATE TABLE IF NOT EXISTS schema_version (version int); DELETE FROM schema_version`);
    await server.query(name, `INSERT INTO schema_version VALUES (${version})`);
    const { code, err } = await type(['doctor'], { env });
    assert.equal(code, 7, err);
    assert.match(err, says);
  }
});

test('where neither an engine nor its database answers, both are said, and no password', async () => {
  const env = { DATABASE_URL: 'postgres://ada:hunter2@127.0.0.1:9/nothing', PAWL_URL: 'http://127.0.0.1:9' };
  for (const command of ['doctor', 'workers']) {
    const { code, err } = await type([command], { env });
    assert.equal(code, 7, err);
    assert.match(err, /^pawl: no engine answers at http:\/\/127\.0\.0\.1:9\n {2}why: .*nor can the database/);
    assert.match(err, /127\.0\.0\.1:9\/nothing does not answer/);
    assert.doesNotMatch(err, /hunter2|ada/);
  }
});

function config(fleetConfig: object): string {
  const file = join(folder, 'pawl.config.ts');
  writeFileSync(file, `export default ${JSON.stringify({ connections: {}, fleet: fleetConfig })};\n`);
  return file;
}

const SCRIPT = `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({ name: 'orders', topics: { placed: topic<{ id: string }>() } }).consumer('note', {
  subscribe: ['placed'],
  state: {},
  async prepare(ctx) {
    const [event] = await ctx.peek('placed', { limit: 1 });
    return event ? ctx.take(event, { data: {} }) : ctx.idle();
  },
  async next() {
    return {};
  },
});
`;
