import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { startApp } from '#app';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { type Typed, type } from './typed-terminal.ts';

// An engine that is frozen: its machine takes connections for it, and nothing ever comes back.

let engine: Server;
let sockets: Socket[];
/** What it was asked, without ever answering. */
let asked: string[];
let heard: () => void;
/** Ends by how long each waits. */
let waits: Map<number, () => void>;
beforeEach(async () => {
  sockets = [];
  engine = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.on('data', (data) => {
      asked.push(data.toString('latin1').split('\r\n', 1)[0] ?? '');
      heard();
    });
  }).listen(0, '127.0.0.1');
  await once(engine, 'listening');
  waits = new Map();
  mock.method(AbortSignal, 'timeout', (ms: number) => {
    const wait = new AbortController();
    waits.set(ms, () => wait.abort(new DOMException('it took too long', 'TimeoutError')));
    return wait.signal;
  });
});
afterEach(() => {
  mock.restoreAll();
  for (const socket of sockets) socket.destroy();
  engine.close();
});

const urlOf = (): string => `http://127.0.0.1:${(engine.address() as { port: number }).port}`;

/** Types it, and lets the time pass once something was asked. */
async function typed(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Typed> {
  asked = [];
  const hearing = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const ending = type(argv, { env: { PAWL_URL: urlOf(), ...env } });
  await hearing;
  waits.get(10_000)?.();
  return ending;
}

test('an engine that says nothing is given up, and was asked for nothing that it would do when it wakes up', async () => {
  for (const argv of [['status'], ['trigger', 'orders'], ['doctor'], ['workers']]) {
    const { code, err } = await typed(argv);
    assert.equal(code, 7, err);
    assert.match(
      err,
      /^pawl: no engine answers at http:.+\n {2}why: it said nothing for 10 s: .*hangs.*\n {2}next: look/,
    );
    assert.deepEqual(asked, ['GET /api/health HTTP/1.1']);
  }
});

test('data whose engine says nothing is not taken for data that nobody runs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-silent-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const app = await startApp({ dataDir: folder });
  await app.stop();
  assert.equal((await type(['doctor', '--data', folder], {})).code, 0);
  writeFileSync(join(folder, 'url'), `${urlOf()}\n`);
  const { code, err } = await typed(['doctor', '--data', folder]);
  assert.equal(code, 7, err);
});

onPostgres('workers and doctor read the database where an engine says nothing', async (t) => {
  const database = await freshDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'pawl-silent-'));
  const app = await startApp({ dataDir: folder, fleet: { url: database.url, role: 'executor', name: 'frozen' } });
  t.after(async () => {
    await app.stop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { DATABASE_URL: database.url };
  const workers = await typed(['workers'], env);
  assert.equal(workers.code, 0, workers.err);
  assert.match(workers.out, /^no engine answers at .*, so this was read from the database .* directly\n/);
  assert.match(workers.out, /\nfrozen +/);
  assert.match((await typed(['doctor'], env)).out, /^no engine answers at .*\nnobody at work: /);
});
