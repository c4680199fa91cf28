import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from '#http';
import { type Answer, Api } from './api.ts';
import { GIVEN } from './scripts.ts';

/** As a client would that chooses its own Host, which fetch does not allow. */
function askAs(api: Api, host: string, path = '/api/health'): Promise<number | undefined> {
  const { port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Piece by piece, without saying how long it is. */
function inPieces(pieces: Iterable<string>): { body: ReadableStream; duplex: 'half' } {
  const bytes = (function* () {
    for (const piece of pieces) yield Buffer.from(piece);
  })();
  return { body: ReadableStream.from(bytes), duplex: 'half' };
}

test('who may ask', async (t) => {
  const api = await Api.open(t);
  const dataDir = join(api.stage.folder, 'data');
  const bare = async (headers: Record<string, string>, path = '/api/status'): Promise<Answer> => {
    const answer = await fetch(`${api.url}${path}`, { headers });
    return { status: answer.status, body: await answer.json() };
  };

  await t.test('health needs no token, and says which engine this is', async () => {
    const { status, body } = await bare({}, '/api/health');
    assert.equal(status, 200);
    assert.deepEqual([body.ok, body.pid, body.dataDir], [true, process.pid, dataDir]);
    assert.match(body.version, /^\d+\.\d+\.\d+/);
  });

  await t.test('everything else needs it', async () => {
    await api.refused(bare({}), 401, 'unauthorized');
    await api.refused(bare({ authorization: 'Bearer wrong' }), 401, 'unauthorized');
    await api.refused(bare({ authorization: `Basic ${api.token}` }), 401, 'unauthorized');
    await api.refused(bare({ authorization: `Bearer ${api.token}x` }), 401, 'unauthorized');
    assert.equal((await bare({ authorization: `Bearer ${api.token}` })).status, 200);
    for (const path of ['/api/needs', '/api/workflows', '/api/show/x', '/api/doctor', '/api/nothing']) {
      await api.refused(bare({}, path), 401, 'unauthorized');
    }
  });

  await t.test('the token is long, only its owner can read it, and the next start finds it again', async () => {
    assert.ok(api.token.length >= 32);
    assert.equal(statSync(join(dataDir, 'token')).mode & 0o777, 0o600);
    const again = await serve(api.stage.app, { port: 0, dataDir });
    assert.equal(readFileSync(join(dataDir, 'token'), 'utf8').trim(), api.token);
    await again.close();
    assert.equal(readFileSync(join(dataDir, 'url'), 'utf8').trim(), api.url, 'who serves the folder stays its address');
  });

  await t.test('another host in the request is refused: no web page can speak through a browser', async () => {
    const { port } = new URL(api.url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      assert.equal(await askAs(api, host), 200, host);
    }
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1:1', 'localhost', `127.0.0.1.evil:${port}`]) {
      assert.equal(await askAs(api, host), 403, host);
    }
  });

  await t.test('an act must be JSON, whole and not too large', async () => {
    const { refused } = api;
    await refused(api.ask('POST', '/api/backup', 'file=x', { 'content-type': 'text/plain' }), 415, 'not-json');
    await refused(
      api.ask('POST', '/api/backup', 'file=x', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'not-json',
    );
    await refused(api.ask('POST', '/api/backup', '{"file":'), 400, 'invalid');
    await refused(api.ask('POST', '/api/backup', { file: 'x'.repeat(2 * 1_024 * 1_024) }), 413, 'too-large');
  });

  await t.test('a body whose length nobody says is read to its end, and not beyond the limit', async () => {
    const send = async (path: string, sent: RequestInit): Promise<Answer> => {
      const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' };
      const answer = await fetch(`${api.url}${path}`, { method: 'POST', headers, ...sent });
      return { status: answer.status, body: await answer.json() };
    };
    await api.deploy(GIVEN);
    const event = ['{"events":[{"topic":"placed","messageId":"pieces",', '"payload":{"id":"pieces"}}]}'];
    assert.equal((await send('/api/workflows/orders/publish', inPieces(event))).status, 200);
    let asked = 0;
    const endless = (function* () {
      for (; asked < 1_000; asked++) yield 'x'.repeat(64 * 1_024);
    })();
    await api.refused(send('/api/backup', inPieces(endless)), 413, 'too-large');
    assert.ok(asked < 1_000, 'the rest is not waited for');
  });

  await t.test('a request without a body is no bug', async () => {
    for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'POST']) {
      await api.refused(api.ask(method, '/api/workflows'), 404, 'no-route');
    }
    const json = { 'content-type': 'application/json' };
    assert.equal((await api.ask('POST', '/api/workflows/orders/pause', undefined, json)).status, 200);
    assert.equal((await api.ask('POST', '/api/workflows/orders/resume', undefined, json)).status, 200);
  });

  await t.test('nonsense is refused, never a bug', async () => {
    for (const path of ['/api/show/%E0%A4%A', '/api/show/%00', `/api/show/${'x'.repeat(5_000)}`]) {
      await api.refused(api.get(path), 404, 'not-found');
    }
    const deep = `{"file":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    for (const body of [
      'null',
      '[]',
      '"x"',
      '7',
      deep,
      `{"file":"${'['.repeat(1_900_000)}`,
      '{"file":"\\',
      `{"file":"${'\\"'.repeat(1_000)}`,
    ]) {
      await api.refused(api.ask('POST', '/api/backup', body), 400, 'invalid');
    }
    const nested = { events: [{ topic: 'placed', payload: JSON.parse('['.repeat(300) + ']'.repeat(300)) }] };
    await api.deploy(GIVEN);
    await api.refused(api.post('/api/workflows/orders/publish', nested), 400, 'invalid');
  });

  await t.test('a port that is taken is said in words', async () => {
    const { port } = new URL(api.url);
    await assert.rejects(serve(api.stage.app, { port: Number(port), dataDir }), { code: 'port-taken' });
  });

  await t.test('there is nothing for other sites, and nothing where nothing is', async () => {
    const answer = await fetch(`${api.url}/api/health`, { headers: { origin: 'http://evil.example' } });
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
    await api.refused(api.get('/api/nothing'), 404, 'no-route');
    await api.refused(api.ask('DELETE', '/api/workflows', {}), 404, 'no-route');
  });
});
