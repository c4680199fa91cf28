import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import type { OpenOptions, ReadOutcome } from '#connector';
import { json, listen, open, plenty, startProvider } from './outside-world.ts';

function errorOf(outcome: ReadOutcome): { class: string; message: string } {
  assert.equal(outcome.kind, 'not_done', JSON.stringify(outcome));
  return (outcome as Extract<ReadOutcome, { kind: 'not_done' }>).error;
}

test('a redirect to loopback is refused in every spelling, and nothing arrives there', async (t) => {
  const inner = await startProvider(t, (response) => json(response, 200, { secret: 'inside' }));
  const port = new URL(inner.url).port;
  const hosts = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    'trick.test',
  ];
  const provider = await startProvider(t, (response, { url }) => {
    response.writeHead(302, { location: `http://${hosts[Number(url.slice(1))]}:${port}/` }).end();
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } }, { lookup: always('127.0.0.1') });
  for (const index of hosts.keys()) {
    const { class: errorClass, message } = errorOf(await connections.read('shop', 'get', { path: `/${index}` }));
    assert.equal(errorClass, 'logic', `${hosts[index]}: ${message}`);
    assert.match(message, /not a public address/);
  }
  assert.equal(inner.seen.length, 0);
});

test('a name with one public and one private address is refused', async (t) => {
  const provider = await startProvider(
    t,
    (response) => void response.writeHead(302, { location: 'http://mixed.test/' }).end(),
  );
  const connections = open(
    t,
    { shop: { type: 'http', baseUrl: provider.url } },
    { lookup: always('93.184.216.34', '10.0.0.7') },
  );
  assert.match(errorOf(await connections.read('shop', 'get', { path: '/' })).message, /10\.0\.0\.7/);
});

test('a name is looked up once, and what was checked is what is connected to: rebinding finds no gap', async (t) => {
  const provider = await startProvider(
    t,
    (response) => void response.writeHead(302, { location: 'http://rebind.test:9/' }).end(),
  );
  const answers = ['169.254.169.254', '93.184.216.34'];
  let lookups = 0;
  const lookup: OpenOptions['lookup'] = (host, options, callback) => {
    always(answers[lookups] ?? '')(host, options, callback);
    lookups++;
  };
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } }, { lookup });
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/' })).class, 'logic');
  assert.equal(lookups, 1);
});

test('what the operator wrote is allowed: the origin of baseUrl, and the origins listed in that connection only', async (t) => {
  const inner = await startProvider(t, (response, { headers }) => json(response, 200, headers));
  const provider = await startProvider(
    t,
    (response) => void response.writeHead(307, { location: `${inner.url}/there` }).end(),
  );
  const connections = open(
    t,
    {
      listed: { type: 'http', baseUrl: provider.url, origins: [inner.url], headers: { 'X-Key': { secret: 'key' } } },
      other: { type: 'http', baseUrl: provider.url },
      inner: { type: 'http', baseUrl: inner.url },
    },
    { resolveSecret: () => 'sesame-sesame' },
  );
  const outcome = await connections.read('listed', 'get', {
    path: '/',
    headers: { 'X-Mine': '1', Accept: 'text/html' },
  });
  const { body } = (outcome as { result: { body: Record<string, string> } }).result;
  assert.deepEqual([body['x-key'], body['x-mine'], body.accept], [undefined, undefined, 'text/html']);
  assert.equal(errorOf(await connections.read('other', 'get', { path: '/' })).class, 'logic');
  assert.equal(provider.seen[0]?.headers['x-key'], 'sesame-sesame');
});

test('a read follows up to five redirects, and keeps its credentials on the same origin', async (t) => {
  const provider = await startProvider(t, (response, { url, headers }) => {
    const hops = Number(url.slice(1));
    if (hops === 0) return json(response, 200, { key: headers['x-key'] });
    response.writeHead(302, { location: `${hops - 1}` }).end();
  });
  const config = { shop: { type: 'http', baseUrl: provider.url, headers: { 'X-Key': 'plain' } } };
  const connections = open(t, config);
  const outcome = await connections.read('shop', 'get', { path: '/5' });
  assert.deepEqual((outcome as { result: { body: unknown } }).result.body, { key: 'plain' });
  assert.match(errorOf(await connections.read('shop', 'get', { path: '/6' })).message, /more than 5 times/);
});

test('a redirect to something that is not http is an error, not a crash', async (t) => {
  const provider = await startProvider(t, (response, { url }) => {
    response.writeHead(302, { location: url === '/file' ? 'file:///etc/passwd' : 'http://[broken' }).end();
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/file' })).class, 'logic');
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/bad' })).class, 'logic');
});

test('over TLS a certificate nobody vouches for is not done, and one the operator names is used', async (t) => {
  const pem = readFileSync(join(import.meta.dirname, 'localhost.pem'), 'utf8');
  let requests = 0;
  const server = createTlsServer({ key: pem, cert: pem }, (request, response) => {
    requests++;
    request
      .resume()
      .on('end', () => (request.url === '/drop' ? request.socket.destroy() : json(response, 200, { ok: true })));
  });
  const port = await listen(t, server, () => server.closeAllConnections());
  const baseUrl = `https://localhost:${port}`;
  const connections = open(t, { wary: { type: 'http', baseUrl }, knowing: { type: 'http', baseUrl, ca: pem } });
  const refused = await connections.mutate('wary', 'post', { path: '/' }, plenty());
  assert.equal(refused.kind === 'not_done' && refused.error.class, 'transient');
  assert.equal(requests, 0);
  assert.equal((await connections.mutate('knowing', 'post', { path: '/' }, plenty())).kind, 'applied');
  const dropped = await connections.mutate('knowing', 'post', { path: '/drop' }, plenty());
  assert.equal(dropped.kind === 'uncertain' && dropped.callEnded, true);
});

test('a redirect from https to plain http is refused', async (t) => {
  const pem = readFileSync(join(import.meta.dirname, 'localhost.pem'), 'utf8');
  const server = createTlsServer({ key: pem, cert: pem }, (_request, response) => {
    response.writeHead(302, { location: 'http://example.com/' }).end();
  });
  const port = await listen(t, server, () => server.closeAllConnections());
  const connections = open(t, { shop: { type: 'http', baseUrl: `https://localhost:${port}`, ca: pem } });
  assert.match(errorOf(await connections.read('shop', 'get', { path: '/' })).message, /not encrypted/);
});

function always(...addresses: string[]): NonNullable<OpenOptions['lookup']> {
  return (_host, options, callback) => {
    const all = addresses.map((address) => ({ address, family: 4 }));
    if (options.all === true) callback(null, all);
    else callback(null, all[0]?.address ?? '', 4);
  };
}
