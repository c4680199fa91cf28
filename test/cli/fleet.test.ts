import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '#app';
import { serve } from '#http';
import { EngineProcess, until } from '../kills/engine-process.ts';
import { OrdinaryUser } from '../support/ordinary-user.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { type Typed, type } from './typed-terminal.ts';

/** Nobody answers there: what is refused is refused before anybody is asked. */
const NOWHERE = 'postgres://nobody@127.0.0.1:9/nothing';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-fleet-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function pawl(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Typed> {
  const [command = '', ...flags] = argv;
  return type([command, '--data', join(folder, 'data'), ...flags], { env: { DATABASE_URL: NOWHERE, ...env } });
}

test('an executor and a worker without a database say what to set', async () => {
  for (const [role, says] of [
    ['executor', 'an executor needs a database'],
    ['worker', 'a worker needs a database'],
  ] as const) {
    const { code, err } = await pawl([role], { DATABASE_URL: '' });
    assert.equal(code, 2, err);
    assert.ok(err.startsWith(`pawl: ${says}\n`), err);
    assert.ok(err.includes(`next: set it: DATABASE_URL=postgres://user@host/database pawl ${role}\n`), err);
  }
});

test('a DATABASE_URL that is no address is told by every process, and its password is not', async () => {
  for (const [url, says] of [
    ['postgres://pawl:hun/ter2@127.0.0.1:9/pawl', 'DATABASE_URL cannot be taken apart as it was meant'],
    ['postgres://pawl:hun#ter2@127.0.0.1:9/pawl', 'DATABASE_URL cannot be taken apart as it was meant'],
    ['postgres://pawl:hun?ter2@127.0.0.1:9/pawl', 'DATABASE_URL cannot be taken apart as it was meant'],
    ['postgres://pawl:hunter2@127.0.0.1:nine/pawl', 'the port in DATABASE_URL is not the number of a port'],
    ['postgres://pawl:hunter2@127.0.0.1:9/pawl?sslrootcert=/no/such.pem', 'a file that DATABASE_URL names'],
  ] as const) {
    for (const role of ['start', 'executor', 'worker']) {
      const { code, err } = await pawl([role], { DATABASE_URL: url });
      assert.equal(code, 1, err);
      assert.ok(err.includes(`pawl: ${says}`), err);
      assert.match(err, /\n {2}why: .+\n {2}next: /);
      assert.doesNotMatch(err, /bug of Pawl|hun|ter2/);
    }
    const { err } = await pawl(['workers'], { DATABASE_URL: url });
    assert.ok(err.includes(`nor can the database of DATABASE_URL be read: ${says}`), err);
    assert.doesNotMatch(err, /bug of Pawl|hun|ter2/);
  }
});

test('the address that migrate-store is given is spoken of as it was given', async () => {
  const app = await startApp({ dataDir: join(folder, 'data') });
  await app.stop();
  const wrong = 'postgres://pawl:hun/ter2@127.0.0.1:9/pawl';
  for (const [argv, env, named] of [
    [['--to', wrong], { DATABASE_URL: NOWHERE }, '--to'],
    [[], { DATABASE_URL: wrong }, 'DATABASE_URL'],
  ] as const) {
    const { code, err } = await pawl(['migrate-store', ...argv], env);
    assert.equal(code, 1, err);
    assert.ok(err.startsWith(`pawl: ${named} cannot be taken apart as it was meant\n`), err);
    assert.doesNotMatch(err, /hun|ter2/);
  }
  writeFileSync(join(folder, 'data', 'pawl.moved'), '127.0.0.1:9/pawl\n');
  const back = await pawl(['migrate-store', '--back', '--to', wrong]);
  assert.equal(back.code, 1, back.err);
  assert.ok(back.err.startsWith('pawl: --to cannot be taken apart as it was meant\n'), back.err);
});

for (const [name, env] of [
  ['is too long', { PAWL_NAME: 'x'.repeat(201) }],
  ['is blank', { PAWL_NAME: '  ' }],
  ['cannot be typed', { PAWL_NAME: 'a\u0007b' }],
] as const) {
  test(`a PAWL_NAME that ${name} is a usage error of every process`, async () => {
    for (const role of ['start', 'executor', 'worker']) {
      const { code, err } = await pawl([role], env);
      assert.equal(code, 2, err);
      assert.match(err, /^pawl: PAWL_NAME is no name for a process\n {2}why: it is .+\n {2}next: set another/);
    }
  });
}

test('a pool that nobody could name in a config is a usage error', async () => {
  for (const pool of ['', ' ', 'a b', 'a\nb', 'a\u0007', 'x'.repeat(201)]) {
    const { code, err } = await pawl(['worker', '--pool', pool]);
    assert.equal(code, 2, err);
    assert.match(err, /is no name of a pool\n {2}why: .+\n {2}next: .+: pawl worker\n/);
  }
});

test('a master key of another form is refused by every process, before anything is opened, and is not told again', async () => {
  const short = Buffer.alloc(16, 7).toString('base64');
  const long = `${'ab'.repeat(32)}!`;
  for (const [name, key] of [
    ['PAWL_MASTER_KEY', 'hunter2'],
    ['PAWL_MASTER_KEY', short],
    ['PAWL_MASTER_KEY', long],
    ['PAWL_MASTER_KEY', ''],
    ['PAWL_MASTER_KEY_OLD', 'hunter2'],
  ] as const) {
    for (const [role, url] of [
      ['start', ''],
      ['start', NOWHERE],
      ['executor', NOWHERE],
      ['worker', NOWHERE],
    ] as const) {
      const { code, out, err } = await pawl([role], { [name]: key, DATABASE_URL: url });
      assert.deepEqual([code, out], [1, ''], err);
      assert.match(err, new RegExp(`pawl: the variable ${name} holds no master key\n {2}why: a key is 32 bytes, `));
      assert.match(err, /64 hex digits or 44 characters of base64\n {2}next: .*openssl rand -hex 32\n/);
      assert.ok(key === '' || !err.includes(key), 'the key is told');
      assert.equal(existsSync(join(folder, 'data')), false, `${role} has made a folder`);
    }
  }
});

test('probes that are to listen somewhere need a port', async () => {
  const { code, err } = await pawl(['worker', '--pool', 'heavy', '--probe-listen', '127.0.0.1']);
  assert.equal(code, 2, err);
  assert.match(err, /^pawl: --probe-listen needs --probe-port\n/);
  const argv = `pawl worker --data ${join(folder, 'data')} --pool heavy --probe-port 0 --probe-listen 127.0.0.1\n`;
  assert.ok(err.includes(argv), err);
});

test('a data folder that is a file is said to be one, by every process that keeps something there', async () => {
  writeFileSync(join(folder, 'data'), 'not a folder');
  for (const argv of [['executor'], ['start']]) {
    const { code, err } = await pawl(argv);
    assert.equal(code, 1, err);
    assert.match(
      err,
      /is not a folder, so no data can be kept there\n {2}why: there is a file .+\n {2}next: name another data folder/,
    );
  }
});

test('a start for others than this machine is answered with the same command for this machine', async () => {
  const { code, err } = await pawl(['start', '--port', '0', '--listen', '0.0.0.0'], { DATABASE_URL: '' });
  assert.equal(code, 1, err);
  assert.ok(err.includes(`reaches it: pawl start --data ${join(folder, 'data')} --port 0\n`), err);
});

/** A port that somebody else has. */
async function takenPort(t: TestContext): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return String((server.address() as AddressInfo).port);
}

onPostgres('whoever cannot listen hears of what it is, and which command goes on', async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const env = { DATABASE_URL: database.url };
  const data = join(folder, 'data');
  const port = await takenPort(t);

  const probes = await pawl(['worker', '--probe-port', port], env);
  assert.equal(probes.code, 5, probes.err);
  assert.match(
    probes.err,
    /"msg":"the probes of this worker cannot listen|^pawl: the probes of this worker cannot listen/m,
  );
  assert.ok(probes.err.includes(`next: take any free port: pawl worker --data ${data} --probe-port 0\n`), probes.err);

  const address = await pawl(['worker', '--probe-port', '0', '--probe-listen', '9.9.9.9'], env);
  assert.equal(address.code, 1, address.err);
  assert.match(address.err, /the probes of this worker cannot listen on 9\.9\.9\.9\n {2}why: this machine has no such/);
  assert.ok(address.err.includes(`this machine only: pawl worker --data ${data} --probe-port 0\n`), address.err);

  const api = await pawl(['executor', '--port', port], env);
  assert.equal(api.code, 5, api.err);
  assert.match(api.err, /^pawl: the API cannot listen on port/m);
  assert.ok(api.err.includes(`next: take any free port: pawl executor --data ${data} --port 0\n`), api.err);

  const open = await pawl(['executor', '--listen', '0.0.0.0'], env);
  assert.equal(open.code, 1, open.err);
  assert.ok(open.err.includes(`only this machine reaches it: pawl executor --data ${data}\n`), open.err);
});

onPostgres('a worker of a pool that no workflow is in is warned, and one of a pool that is named is not', async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const config = join(folder, 'pawl.config.ts');
  writeFileSync(config, "export default { fleet: { pools: { heavy: ['crunch'] } } };\n");
  const port = await takenPort(t);
  for (const [pool, isWarned] of [
    ['nosuch', true],
    ['heavy', false],
    ['default', false],
  ] as const) {
    // It ends by the port that is taken.
    const argv = ['worker', '--config', config, '--pool', pool, '--probe-port', port];
    const { code, err } = await pawl(argv, { DATABASE_URL: database.url });
    assert.equal(code, 5, err);
    assert.equal(/"level":"warn".+no workflow of this config is in the pool/.test(err), isWarned, err);
    if (isWarned) assert.match(err, /its pools are default, heavy/);
  }
});

onPostgres(
  'an executor whose config has other limits says what it changes for all, and doctor what differs',
  async (t) => {
    const database = await freshDatabase();
    const ending: (() => Promise<void>)[] = [];
    t.after(async () => {
      for (const end of ending) await end();
      await database.drop();
    });
    const port = await takenPort(t);
    const withLimits = (name: string, limits: object): string => {
      const config = join(folder, name);
      const heavy = { pools: { heavy: ['crunch'] }, limits };
      writeFileSync(config, `export default ${JSON.stringify({ fleet: heavy })};\n`);
      return config;
    };
    // It ends by the port that is taken.
    const started = async (config: string) => {
      const { code, err } = await pawl(['executor', '--config', config, '--port', port], {
        DATABASE_URL: database.url,
      });
      assert.equal(code, 5, err);
      return err.split('\n').filter((line) => line.includes('"level":"warn"') && line.includes('limit'));
    };
    const wide = withLimits('wide.ts', { pools: { heavy: 8, default: 5 } });
    const narrow = withLimits('narrow.ts', { pools: { heavy: 4 } });

    assert.deepEqual(await started(wide), [], 'what nobody has set is nobody’s to be changed');
    assert.deepEqual(await started(wide), []);
    const said = await started(narrow);
    assert.equal(said.length, 2, said.join('\n'));
    assert.match(said.join('\n'), /the limit pool:heavy was 8 and is 4 now, for all processes/);
    assert.match(said.join('\n'), /the limit pool:default was 5 and is none now, for all processes/);

    const dataDir = mkdtempSync(join(folder, 'wide-'));
    const app = await startApp({
      dataDir,
      config: { connections: {}, fleet: { pools: { heavy: ['crunch'] }, limits: { pools: { heavy: 8 } } } },
      fleet: { url: database.url, role: 'executor', name: 'wide' },
    });
    const served = await serve(app, { port: 0, dataDir });
    ending.push(
      () => served.close(),
      () => app.stop(),
    );
    const doctor = async () => (await type(['doctor', '--data', dataDir], {})).out;
    assert.doesNotMatch(await doctor(), /limit /);
    await started(narrow);
    const differs = /limit pool:heavy: 4 counts for all processes, and the config of this one says 8: .*same config/;
    assert.match(await doctor(), differs);
  },
);

onPostgres('an executor on the folder of another that answers warns, and commands find the first', async (t) => {
  const database = await freshDatabase();
  const dataDir = mkdtempSync(join(folder, 'shared-'));
  const endings: (() => Promise<void>)[] = [() => database.drop()];
  t.after(async () => {
    for (const end of endings) await end();
  });
  const warned: string[] = [];
  const executor = async (name: string) => {
    const app = await startApp({ dataDir, fleet: { url: database.url, role: 'executor', name } });
    const served = await serve(app, { port: 0, dataDir, onWarning: (text) => warned.push(`${name}: ${text}`) });
    const end = async () => {
      await served.close();
      await app.stop();
    };
    endings.unshift(end);
    return served.url;
  };
  const first = await executor('first');
  assert.equal(warned.length, 0);
  await executor('second');
  assert.equal(warned.length, 1);
  const says = `second: ${dataDir} is the folder of the executor at ${first}: commands with this --data find that one`;
  assert.ok(warned.join('').startsWith(says), warned.join(''));
  assert.equal((await type(['workers', '--data', dataDir], {})).code, 0);
});

onPostgres('whoever drains or cordons a worker that is silent hears since when, and what becomes of it', async (t) => {
  const database = await freshDatabase();
  const dataDir = mkdtempSync(join(folder, 'desk-'));
  const app = await startApp({ dataDir, fleet: { url: database.url, role: 'executor', name: 'desk' } });
  const served = await serve(app, { port: 0, dataDir });
  t.after(async () => {
    await served.close();
    await app.stop();
    await database.drop();
  });
  const { manager, ids } = app.engine;
  const dead = ids.next('worker');
  await manager.registerWorker(dead, { name: 'dead', pool: 'default', leaseMs: 1 });
  const told = async (verb: string, name: string) => (await type([verb, name, '--data', dataDir], {})).out;
  const silent =
    /dead is (\w+): it has been silent since (?:\S+ )?\d\d:\d\d \(for .+\) and is taken for dead; (.+); (.+)\n/;
  const words = async (verb: string) => silent.exec(await told(verb, 'dead'))?.slice(1);
  const nothing = 'it had nothing under way';
  const struck = 'and else it is struck off the list';
  assert.deepEqual(await words('cordon'), [
    'cordoned',
    nothing,
    `should it come back, it claims nothing new until it is uncordoned, ${struck}`,
  ]);
  assert.deepEqual(await words('uncordon'), ['open', nothing, `should it come back, it takes what comes, ${struck}`]);
  assert.deepEqual(await words('drain'), ['draining', nothing, `should it come back, it ends, ${struck}`]);

  await manager.registerWorker(ids.next('worker'), { name: 'alive', pool: 'default', leaseMs: 60_000 });
  assert.match(
    await told('drain', 'alive'),
    /^alive is draining: it finishes what it has, claims nothing new, and ends\n/,
  );
});

onPostgres('a process that cannot open the secrets of its fleet says so at its start', async (t) => {
  const database = await freshDatabase();
  const dataDir = mkdtempSync(join(folder, 'first-'));
  const warned: string[] = [];
  const fleet = { url: database.url, role: 'executor', name: 'first' } as const;
  const app = await startApp({ dataDir, fleet, onWarning: (text) => warned.push(text) });
  t.after(async () => {
    await app.stop();
    await database.drop();
  });
  const port = await takenPort(t);
  const key = join(dataDir, 'master.key');
  const started = async (env: Readonly<Record<string, string>> = {}) => {
    const { code, err } = await pawl(['worker', '--probe-port', port], { DATABASE_URL: database.url, ...env });
    assert.equal(code, 5, err);
    return err.split('\n').filter((line) => line.includes('"level":"warn"'));
  };
  assert.deepEqual(await started(), [], 'nothing is sealed, so no key is missed');

  await app.vault.set('shop', 'a value of the shop', 'ada', []);
  await app.vault.set('mail', 'a value of the mail', 'ada', []);
  assert.deepEqual(warned, [
    `a master key was made in ${key}: the other processes of this fleet need the same one, or they cannot open what is sealed with it`,
  ]);

  const [missing = '', ...more] = await started();
  assert.deepEqual(more, []);
  assert.match(missing, /2 secrets cannot be opened by this process \(mail, shop\): the master key is missing/);
  assert.ok(missing.includes(join(folder, 'data', 'master.key')), missing);
  const [wrong = ''] = await started({ PAWL_MASTER_KEY: 'ab'.repeat(32) });
  assert.match(wrong, /2 secrets cannot be opened by this process \(mail, shop\): .*sealed with another master key/);
  const [one = ''] = await started({ PAWL_SECRET_SHOP: 'given otherwise' });
  assert.match(one, /1 secret cannot be opened by this process \(mail\)/);
  assert.deepEqual(await started({ PAWL_MASTER_KEY_FILE: key }), []);
});

onPostgres('a process that finds too few connections ends, and says what to raise', async (t) => {
  const started: EngineProcess[] = [];
  t.after(() => Promise.all(started.filter(({ isOver }) => !isOver).map((each) => each.end('SIGKILL'))));
  const user = await OrdinaryUser.make(t);
  const config = join(folder, 'pawl.config.ts');
  writeFileSync(config, 'export default {};\n');
  // With 3 the reader, the history or the sign of life finds none; with 4 the last of them.
  for (const times of [3, 4]) {
    await user.mayConnect(times);
    for (const command of [['executor'], ['worker'], undefined] as const) {
      const data = join(folder, `${command ?? 'start'}`);
      const each = new EngineProcess({ config, data, env: { DATABASE_URL: user.url }, command });
      started.push(each);
      const ended = await Promise.race([each.ended, sleep(60_000, undefined, { ref: false })]);
      assert.deepEqual(ended, { code: 1, signal: null }, `it goes on with ${times}: ${each.said}`);
      assert.match(each.said, /has no connection left for us, so nothing was written\n {2}why: too many connections/);
      assert.match(each.said, /\n {2}next: .*max_connections.*CONNECTION LIMIT.*each process takes 5/);
      // The server may take a moment to see that it is gone.
      await until('no connection is kept', async () => (await user.connections()) === 0);
    }
  }
});

onPostgres('an executor that the database cannot hold to its part says so at its start, once', async (t) => {
  const user = await OrdinaryUser.make(t);
  const { server, name, url } = user;
  const port = await takenPort(t);
  const warnings = async (argv: readonly string[]): Promise<string[]> => {
    // It ends by the port that is taken.
    const { code, err } = await pawl(argv, { DATABASE_URL: url });
    assert.equal(code, 5, err);
    return err.split('\n').filter((line) => line.includes('"level":"warn"'));
  };
  const executor = ['executor', '--port', port];
  const [warned = '', ...more] = await warnings(executor);
  assert.ok(
    warned.includes(`this executor acts as ${name}, the user of DATABASE_URL, and not as pawl_executor`),
    warned,
  );
  assert.match(warned, /the database keeps it from mistakes only.*docs\/operations\.md/);
  assert.deepEqual(more, []);
  // Of these two nothing is kept that they have not.
  assert.deepEqual(await warnings(['worker', '--probe-port', port]), []);
  assert.deepEqual(await warnings(['start', '--port', port]), []);

  // As docs/operations.md says.
  await server.query(name, `GRANT pawl_executor TO ${name}`);
  await server.query(name, `UPDATE schema_version SET guards = ''`);
  assert.deepEqual(await warnings(executor), []);
});

onPostgres('a database that is away is told of once by each process, and when it is back', async (t) => {
  const server = await startOwnPostgres();
  await server.createDatabase('pawl');
  const config = join(folder, 'pawl.config.ts');
  writeFileSync(config, 'export default { fleet: { leaseMs: 1_500 } };\n');
  const env = { DATABASE_URL: server.url('pawl') };
  const fleet = (['executor', 'worker'] as const).map(
    (role) => new EngineProcess({ config, data: join(folder, role), env, command: [role] }),
  );
  t.after(async () => {
    await Promise.all(fleet.map((each) => each.end('SIGKILL')));
    await server.stop();
  });
  for (const each of fleet) await each.ready();
  const lines = (text: RegExp) => fleet.map(({ said }) => said.split('\n').filter((line) => text.test(line)).length);
  const untilThey = async (holds: () => boolean): Promise<void> => {
    for (const end = Date.now() + 60_000; !holds(); await sleep(50))
      assert.ok(Date.now() < end, fleet.map(({ said }) => said).join('\n'));
  };
  await server.kill('SIGKILL');
  await untilThey(() => lines(/store-unreachable/).every((count) => count > 0));
  // As long as it takes for ten more of them.
  await sleep(2_000);
  assert.deepEqual(lines(/store-unreachable/), [1, 1]);
  await server.start();
  await untilThey(() => lines(/the store takes writes again, after .* left out/).every((count) => count === 1));
  assert.deepEqual(lines(/store-unreachable/), [1, 1]);
});
