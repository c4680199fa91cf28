import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '#app';
import { serveProbes } from '#http';
import { Stage } from '../e2e/stage.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { GIVEN } from './scripts.ts';

test('a process without an API says whether it lives, takes work, and what it counted; and nothing else', async (t) => {
  const stage = await Stage.open(t);
  const errors: unknown[] = [];
  const probes = await serveProbes(stage.app, { port: 0, onError: (error) => errors.push(error) });
  t.after(() => probes.close());
  const { workflow } = await stage.deploy(GIVEN);
  await stage.publish(workflow, 'placed', { id: 'o1' });
  await stage.quiet();
  assert.deepEqual(
    [(await fetch(`${probes.url}/health`)).status, (await fetch(`${probes.url}/ready`)).status],
    [200, 200],
  );
  const text = await (await fetch(`${probes.url}/metrics`)).text();
  assert.match(text, /pawl_events_accepted_total\{workflow="orders"\} 2\n/);
  assert.match(text, /pawl_calls_total\{connection="shop",outcome="applied"\} 2\n/);
  for (const path of ['/', '/api/status', '/metrics?x', '/../token'])
    assert.equal((await fetch(`${probes.url}${path}`)).status, 404, path);
  assert.equal((await fetch(`${probes.url}/metrics`, { method: 'POST', body: '{}' })).status, 404);
  await stage.app.drain();
  assert.equal((await fetch(`${probes.url}/health`)).status, 200);
  const ready = await fetch(`${probes.url}/ready`);
  assert.deepEqual([ready.status, await ready.text()], [503, 'draining\n'], 'the word that an engine says');
  await assert.rejects(serveProbes(stage.app, { port: Number(new URL(probes.url).port), onError: () => undefined }), {
    code: 'port-taken',
    message: `the probes of this worker cannot listen on port ${new URL(probes.url).port}`,
  });
  assert.deepEqual(errors, []);
});

onPostgres('without its database a process says that it takes no work, and still what it counted', async (t) => {
  const server = await startOwnPostgres();
  await server.createDatabase('pawl');
  const folder = mkdtempSync(join(tmpdir(), 'pawl-probes-'));
  const fleet = { url: server.url('pawl'), role: 'both', name: 'alone' } as const;
  const app = await startApp({ dataDir: folder, config: { connections: {} }, fleet, onError: () => undefined });
  const probes = await serveProbes(app, { port: 0, onError: () => undefined });
  t.after(async () => {
    await probes.close();
    await app.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const ready = async (): Promise<number> => (await fetch(`${probes.url}/ready`)).status;
  assert.equal(await ready(), 200);
  await server.kill('SIGKILL');
  for (let looks = 0; looks < 100 && (await ready()) === 200; looks++) await sleep(20);
  assert.equal(await ready(), 503, 'also when nobody had anything to write');
  const text = await (await fetch(`${probes.url}/metrics`)).text();
  assert.match(text, /^pawl_store_writable 0$/m);
  assert.match(text, /^pawl_sandbox_children /m);
  await server.start();
  for (let looks = 0; looks < 1_000 && (await ready()) !== 200; looks++) await sleep(20);
  assert.equal(await ready(), 200, 'and by itself again');
});

onPostgres('a worker serves its probes where it is asked to, and ends with them', async (t) => {
  const database = await freshDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'pawl-probes-'));
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  const flags = ['--disable-warning=ExperimentalWarning', main, 'worker', '--data', folder, '--probe-port', '0'];
  const worker = spawn(process.execPath, flags, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, DATABASE_URL: database.url },
  });
  const ended = once(worker, 'exit');
  t.after(async () => {
    worker.kill('SIGKILL');
    await ended;
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  let url: string | undefined;
  for await (const line of createInterface({ input: worker.stderr })) {
    [, url] = /probes at (http:[^"]+)"/.exec(line) ?? [];
    if (url !== undefined) break;
  }
  worker.stderr.resume();
  assert.equal((await fetch(`${url}/ready`)).status, 200);
  assert.match(await (await fetch(`${url}/metrics`)).text(), /^pawl_store_writable 1$/m);
  worker.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});
