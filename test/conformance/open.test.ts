import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, type TestContext, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { onKillPoint, StoreFailedError, StoreUnavailableError } from '#base';
import { openPostgresReader, openPostgresStore, Switchboard } from '#store';
import { type OwnServer, startOwnPostgres } from '../support/postgres-server.ts';
import { freshDatabase, onPostgres, sharedServer } from '../support/postgres-world.ts';

afterEach(() => onKillPoint(undefined));

const UNSAFE: readonly (readonly [string, string])[] = [
  ['fsync', `ALTER SYSTEM SET fsync = off`],
  ['full_page_writes', `ALTER SYSTEM SET full_page_writes = off`],
  ['synchronous_commit', `ALTER SYSTEM SET synchronous_commit = off`],
  ['session_replication_role', `ALTER DATABASE pawl SET session_replication_role = replica`],
];

async function ownServer(t: TestContext): Promise<OwnServer> {
  const server = await startOwnPostgres();
  t.after(() => server.stop());
  await server.createDatabase('pawl');
  return server;
}

onPostgres('a server that would forget what it answered is refused, and said why', async (t) => {
  const server = await ownServer(t);
  const url = server.url('pawl');
  await (await openPostgresStore({ url })).close();
  for (const [name, spoil] of UNSAFE) {
    await server.query('pawl', spoil);
    await server.query('pawl', 'SELECT pg_reload_conf()');
    await until(async () => (await server.query('pawl', `SHOW ${name}`))[0]?.[0] !== 'on');
    await assert.rejects(openPostgresStore({ url }), (error: unknown) => {
      assert.ok(error instanceof StoreFailedError && error.code === 'store-unsafe', String(error));
      assert.match(error.message, new RegExp(name));
      assert.match(error.next[0]?.label ?? '', new RegExp(name));
      return true;
    });
    await server.query('pawl', `ALTER SYSTEM RESET ALL`);
    await server.query('pawl', `ALTER DATABASE pawl RESET ALL`);
    await server.query('pawl', 'SELECT pg_reload_conf()');
    await until(async () => (await server.query('pawl', `SHOW ${name}`))[0]?.[0] !== 'off');
  }
  await (await openPostgresStore({ url })).close();
});

onPostgres('a store finds out on every new connection, not only on its first', async (t) => {
  const server = await ownServer(t);
  const store = await openPostgresStore({ url: server.url('pawl') });
  t.after(() => store.close());
  await server.query('pawl', `ALTER DATABASE pawl SET synchronous_commit = off`);
  const others = `FROM pg_stat_activity WHERE datname = 'pawl' AND pid <> pg_backend_pid()`;
  await server.query('pawl', `SELECT pg_terminate_backend(pid) ${others}`);
  await until(async () => (await server.query('pawl', `SELECT count(*) ${others}`))[0]?.[0] === '0');
  await assert.rejects(store.probe(), (error: unknown) => {
    // The old connection may still be believed in once; the new one is looked at.
    assert.ok(error instanceof StoreFailedError || error instanceof StoreUnavailableError, String(error));
    return true;
  });
  await assert.rejects(store.probe(), { code: 'store-unsafe' });
});

onPostgres('where there is no server, database or right, it says what is missing', async () => {
  const server = await sharedServer();
  await assert.rejects(openPostgresStore({ url: server.url('nowhere') }), { code: 'store-cannot-open' });
  const nobody = 'postgres://127.0.0.1:1/pawl';
  await assert.rejects(openPostgresStore({ url: nobody }), (error: unknown) => {
    assert.ok(error instanceof StoreUnavailableError, String(error));
    assert.equal(error.code, 'store-unreachable');
    assert.match(error.message, /127\.0\.0\.1:1\/pawl/);
    return true;
  });
  const hearing = { hear: () => undefined, missed: () => undefined };
  await assert.rejects(Switchboard.open({ url: nobody, ...hearing }), { code: 'store-unreachable', retryable: true });
  await assert.rejects(Switchboard.open({ url: server.url('nowhere'), ...hearing }), { code: 'store-cannot-open' });
  for (const url of ['garbage', 'mysql://x/y', ''])
    await assert.rejects(Switchboard.open({ url, ...hearing }), { code: 'store-cannot-open', message: /DATABASE_URL/ });
  const secret = 'postgres://ada:hunter2@127.0.0.1:1/pawl';
  const error = await openPostgresStore({ url: secret }).catch((thrown: unknown) => thrown);
  assert.doesNotMatch(`${(error as Error).message} ${(error as Error).stack}`, /hunter2/);
});

test('a server whose certificate nobody trusts is not said to be away', async (t) => {
  const pem = readFileSync(join(import.meta.dirname, '..', 'connector', 'localhost.pem'), 'utf8');
  // As PostgreSQL does: asked for TLS it says yes, and goes on in it.
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, key: pem, cert: pem }).on('error', () => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `postgres://pawl:hunter2@localhost:${port}/pawl?sslmode=require`;
  await assert.rejects(openPostgresStore({ url }), (error: unknown) => {
    assert.ok(error instanceof StoreUnavailableError, String(error));
    assert.match(error.message, /^localhost:\d+\/pawl has a certificate that is not trusted here/);
    assert.match(error.why, /self-signed/);
    assert.match(error.next[0]?.label ?? '', /in DATABASE_URL.*sslrootcert/);
    return true;
  });
});

/** Everything the schema is made of, as the database tells it. */
async function schemaOf(url: string): Promise<unknown> {
  const reader = await openPostgresReader(url);
  try {
    return await Promise.all(
      [
        `SELECT table_name, column_name, data_type, collation_name, is_nullable FROM information_schema.columns
          WHERE table_schema = 'public' ORDER BY 1, 2`,
        `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
        `SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
          WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
        `SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
        'SELECT version, guards FROM schema_version',
      ].map((sql) => reader.offenders(sql)),
    );
  } finally {
    await reader.close();
  }
}

async function emptyDatabase(t: TestContext, name: string): Promise<string> {
  const server = await sharedServer();
  await server.createDatabase(name);
  t.after(() => server.dropDatabase(name));
  return server.url(name);
}

onPostgres('every text is compared by its bytes, whatever language the database was made for', async () => {
  const { server, name, drop } = await freshDatabase();
  const others = await server.query(
    name,
    `SELECT table_name, column_name, collation_name FROM information_schema.columns
      WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
  );
  assert.deepEqual(others, []);
  await drop();
});

onPostgres('a process that dies at a step of the migrations leaves a database the next one completes', async (t) => {
  const whole = await emptyDatabase(t, 'whole');
  let steps = 0;
  onKillPoint((point) => {
    if (point === 'migration-step') steps += 1;
  });
  await (await openPostgresStore({ url: whole })).close();
  onKillPoint(undefined);
  const expected = await schemaOf(whole);
  assert.ok(steps > 100, `there are only ${steps} steps`);

  const url = await emptyDatabase(t, 'dying');
  const death = new Error('the process died');
  for (const fatal of [1, 2, 30, 75, 90, 110, steps - 1, steps]) {
    let reached = 0;
    onKillPoint((point) => {
      if (point === 'migration-step' && ++reached === fatal) throw death;
    });
    // What an earlier life finished is not done again: a late step is reached only if there is as much left to do.
    const opened = await openPostgresStore({ url }).catch((error: unknown) => error);
    if (opened instanceof Error) assert.equal(opened, death);
    else await (opened as { close(): Promise<void> }).close();
    onKillPoint(undefined);
  }
  await (await openPostgresStore({ url })).close();
  assert.deepEqual(await schemaOf(url), expected);
});

onPostgres('of several processes that start at once one migrates, and all are served', async (t) => {
  const url = await emptyDatabase(t, 'at_once');
  const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url })));
  for (const store of stores) await store.close();
});

onPostgres('a newer schema, and a database of another program, are refused', async (t) => {
  const { server, name, url, drop } = await freshDatabase();
  t.after(drop);
  await server.query(name, 'UPDATE schema_version SET version = version + 1');
  await assert.rejects(openPostgresStore({ url }), { code: 'store-newer' });

  const foreign = await emptyDatabase(t, 'foreign_one');
  await server.query('foreign_one', 'CREATE TABLE notes (id INT)');
  await assert.rejects(openPostgresStore({ url: foreign }), { code: 'store-foreign' });
});

onPostgres('a dump that is put back is noticed, also in the same server and under the same name', async (t) => {
  const server = await sharedServer();
  const url = await emptyDatabase(t, 'put_back');
  const isRestored = async (): Promise<boolean> => {
    const store = await openPostgresStore({ url });
    const found = store.isRestored();
    await store.close();
    return found;
  };
  assert.equal(await isRestored(), false);
  const oids = `SELECT oids FROM database_origin`;
  const [[before]] = (await server.query('put_back', oids)) as [[string]];
  await server.dropDatabase('put_back');
  await server.createDatabase('put_back');
  assert.equal(await isRestored(), false, 'a new one was never anywhere else');
  await server.query('put_back', `UPDATE database_origin SET oids = '${before}'`);
  assert.equal(await isRestored(), true, 'as a dump would have it');
  const store = await openPostgresStore({ url, role: 'executor' });
  await store.forgetRestored();
  await store.close();
  assert.equal(await isRestored(), false);
});

onPostgres('rows that were written by another cluster were put back from a backup', async (t) => {
  const { server, name, url, drop } = await freshDatabase();
  t.after(drop);
  await server.query(name, `UPDATE cluster_origin SET system_identifier = '1'`);
  const store = await openPostgresStore({ url });
  assert.equal(store.isRestored(), true);
  await store.forgetRestored();
  assert.equal(store.isRestored(), false);
  await store.close();
  const again = await openPostgresStore({ url });
  assert.equal(again.isRestored(), false);
  await again.close();
});

onPostgres('an ordinary user who owns the database is enough', async (t) => {
  const server = await sharedServer();
  await server.query('postgres', 'DROP ROLE IF EXISTS joe');
  await server.query('postgres', 'CREATE ROLE joe LOGIN');
  await server.createDatabase('joes');
  await server.query('postgres', 'ALTER DATABASE joes OWNER TO joe');
  await server.query('joes', 'GRANT ALL ON SCHEMA public TO joe');
  t.after(async () => {
    await server.dropDatabase('joes');
    await server.query('postgres', 'DROP ROLE joe');
  });
  const store = await openPostgresStore({ url: server.url('joes').replace('user=pawl', 'user=joe') });
  await store.probe();
  assert.equal(store.isRestored(), false);
  await store.close();
});

const UNTIL_MS_MAX = 60_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + UNTIL_MS_MAX;
  while (!(await holds())) {
    assert.ok(performance.now() < giveUpAt, 'waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
