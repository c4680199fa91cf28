import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { Outcome } from '#connector';
import { deadPort, json, open, plenty, startProvider, startTcp } from './outside-world.ts';

const call = { path: '/bookings', json: { id: 'A1' } };

function errorOf(outcome: Outcome | { kind: string }): {
  class: string;
  message: string;
  retryAfterMs?: number | undefined;
} {
  assert.equal(outcome.kind, 'not_done', JSON.stringify(outcome));
  return (outcome as Extract<Outcome, { kind: 'not_done' }>).error;
}

function uncertain(outcome: Outcome): Extract<Outcome, { kind: 'uncertain' }> {
  assert.equal(outcome.kind, 'uncertain', JSON.stringify(outcome));
  return outcome as Extract<Outcome, { kind: 'uncertain' }>;
}

test('a 2xx is applied, with status, headers and parsed body', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 201, { ref: 'B7' }, { 'set-cookie': 's=1' }));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  let firstBytes = 0;
  const options = plenty({ onFirstByte: () => firstBytes++ });
  const outcome = await connections.mutate('shop', 'post', call, options);
  assert.equal(outcome.kind, 'applied');
  const { result } = outcome as { result: { status: number; headers: Record<string, string>; body: unknown } };
  assert.equal(result.status, 201);
  assert.deepEqual(result.body, { ref: 'B7' });
  assert.equal(result.headers['set-cookie'], undefined);
  assert.equal(firstBytes, 1);
  assert.deepEqual(
    provider.seen.map(({ method, url, body, headers }) => [
      method,
      url,
      body,
      headers['content-type'],
      headers['idempotency-key'],
    ]),
    [['POST', '/bookings', '{"id":"A1"}', 'application/json', options.idempotencyKey]],
  );
});

for (const [status, errorClass] of [
  [400, 'logic'],
  [401, 'auth'],
  [403, 'permission'],
  [404, 'logic'],
  [407, 'auth'],
  [410, 'logic'],
  [422, 'logic'],
  [429, 'transient'],
] as const) {
  test(`a mutation refused with ${status} was not done: ${errorClass}`, async (t) => {
    const provider = await startProvider(t, (response) => json(response, status, { why: 'no' }));
    const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
    const error = errorOf(await connections.mutate('shop', 'post', call, plenty()));
    assert.equal(error.class, errorClass);
    assert.match(error.message, new RegExp(`answered ${status}.*why`));
  });
}

for (const status of [301, 303, 308, 408, 409, 425, 500, 502, 503, 504]) {
  test(`a mutation answered ${status} is uncertain, and its call is over`, async (t) => {
    const provider = await startProvider(t, (response) => json(response, status, {}, { location: '/elsewhere' }));
    const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
    const outcome = uncertain(await connections.mutate('shop', 'post', call, plenty()));
    assert.equal(outcome.callEnded, true);
    assert.equal(provider.seen.length, 1, 'a redirect of a mutation is not followed');
  });
}

test('statuses the operator lists mean that nothing was done', async (t) => {
  const provider = await startProvider(t, (response, { url }) => json(response, Number(url.slice(1)), {}));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, notDone: [409, 503, 308] } });
  const classes: string[] = [];
  for (const path of ['/409', '/503', '/308']) {
    classes.push(errorOf(await connections.mutate('shop', 'put', { path }, plenty())).class);
  }
  assert.deepEqual(classes, ['logic', 'transient', 'logic']);
});

test('Retry-After is honoured as seconds and as a date', async (t) => {
  const provider = await startProvider(t, (response, { url }) => {
    const after = url === '/date' ? new Date(1_000_000_060_000).toUTCString() : '7';
    json(response, url === '/read' ? 503 : 429, {}, { 'retry-after': after });
  });
  const clock = { now: () => 1_000_000_000_000 };
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } }, { clock });
  const options = plenty({ deadline: clock.now() + 5_000 });
  assert.equal(errorOf(await connections.mutate('shop', 'post', { path: '/seconds' }, options)).retryAfterMs, 7_000);
  assert.equal(errorOf(await connections.mutate('shop', 'post', { path: '/date' }, options)).retryAfterMs, 60_000);
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/read' })).retryAfterMs, 7_000);
});

test('a refused connection is definitely not done, and no first byte is reported', async (t) => {
  const connections = open(t, { shop: { type: 'http', baseUrl: `http://127.0.0.1:${await deadPort()}` } });
  let firstBytes = 0;
  const outcome = await connections.mutate('shop', 'post', call, plenty({ onFirstByte: () => firstBytes++ }));
  assert.equal(errorOf(outcome).class, 'transient');
  assert.match(errorOf(outcome).message, /ECONNREFUSED/);
  assert.equal(firstBytes, 0);
});

test('a name that does not resolve is definitely not done', async (t) => {
  const connections = open(t, { shop: { type: 'http', baseUrl: 'http://no-such-host.invalid' } });
  assert.equal(errorOf(await connections.mutate('shop', 'post', call, plenty())).class, 'transient');
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/' })).class, 'transient');
});

test('a server that does not speak TLS where it should is definitely not done', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url.replace('http:', 'https:') } });
  assert.equal(errorOf(await connections.mutate('shop', 'post', call, plenty())).class, 'transient');
  assert.equal(provider.seen.length, 0);
});

test('a connection dropped after the body was read is uncertain, and over', async (t) => {
  const provider = await startProvider(t, (_response, _seen, request) => request.socket.destroy());
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  const outcome = uncertain(await connections.mutate('shop', 'post', call, plenty()));
  assert.equal(outcome.callEnded, true);
  assert.match(outcome.message, /was sent, but no answer came/);
  assert.equal(provider.seen.length, 1, 'it is never sent again');
});

test('a server that does the work and then hangs is uncertain once the time is out', async (t) => {
  const provider = await startProvider(t, () => undefined);
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  const outcome = uncertain(await connections.mutate('shop', 'post', call, plenty({ deadline: Date.now() + 1_000 })));
  assert.equal(outcome.callEnded, true);
  assert.match(outcome.message, /time for the call ran out/);
});

test('headers that trickle in for ever are uncertain once the time is out', async (t) => {
  const url = await startTcp(t, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nx-slow: '));
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: url } });
  uncertain(await connections.mutate('shop', 'post', call, plenty({ deadline: Date.now() + 1_000 })));
});

test('an answer that breaks off is uncertain for a mutation and transient for a read', async (t) => {
  const url = await startTcp(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'));
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: url } });
  assert.match(
    uncertain(await connections.mutate('shop', 'post', call, plenty())).message,
    /answered 200, but the answer broke off/,
  );
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/' })).class, 'transient');
});

test('an answer that is not HTTP is uncertain', async (t) => {
  const url = await startTcp(t, (socket) => void socket.once('data', () => socket.end('220 ready for mail\r\n')));
  const connections = open(t, { shop: { type: 'http', baseUrl: url } });
  uncertain(await connections.mutate('shop', 'post', call, plenty()));
});

test('a refusal whose body never ends is still a refusal', async (t) => {
  const url = await startTcp(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 422 No\r\ncontent-length: 100\r\n\r\nbad id'));
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: url } });
  const error = errorOf(await connections.mutate('shop', 'post', call, plenty({ deadline: Date.now() + 1_000 })));
  assert.equal(error.class, 'logic');
});

test('a huge answer is not kept: applied without its body for a mutation, an error for a read', async (t) => {
  const provider = await startProvider(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end('x'.repeat(200_000));
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, responseBytesMax: 1_000 } });
  const outcome = await connections.mutate('shop', 'post', call, plenty());
  assert.equal(outcome.kind, 'applied');
  const { result } = outcome as { result: { body: unknown; bodyOmitted: string } };
  assert.equal(result.body, null);
  assert.match(result.bodyOmitted, /larger than 1000 bytes/);
  assert.match(errorOf(await connections.read('shop', 'get', { path: '/' })).message, /larger than 1000 bytes/);
});

test('a deadline that passed before the first byte is definitely not done', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  let now = 1_000;
  const clock = { now: () => now };
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } }, { clock, resolveSecret: () => 'x' });
  const late = await connections.mutate('shop', 'post', call, plenty({ deadline: 1_000 }));
  assert.equal(errorOf(late).class, 'transient');
  // The clock jumps while the connection is being made: only the check in the tick of the write can see it.
  const resolving = open(
    t,
    { shop: { type: 'http', baseUrl: provider.url.replace('127.0.0.1', 'shop.test') } },
    {
      clock,
      lookup: (_host, _options, callback) => {
        now = 60_000;
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    },
  );
  let firstBytes = 0;
  const frozen = await resolving.mutate(
    'shop',
    'post',
    call,
    plenty({ deadline: 31_000, onFirstByte: () => firstBytes++ }),
  );
  assert.match(errorOf(frozen).message, /was not sent: the time for the call ran out/);
  assert.deepEqual([firstBytes, provider.seen.length], [0, 0]);
});

test('when onFirstByte throws nothing is sent', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  const options = plenty({
    onFirstByte() {
      throw new Error('the lease is lost');
    },
  });
  assert.match(errorOf(await connections.mutate('shop', 'post', call, options)).message, /the lease is lost/);
  assert.equal(provider.seen.length, 0);
});

test('stopping a call before its first byte is not done; after it, uncertain and over', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const provider = await startProvider(t, () => arrived.resolve());
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  const early = await connections.mutate('shop', 'post', call, plenty({ signal: AbortSignal.abort() }));
  assert.equal(errorOf(early).class, 'transient');
  assert.equal(provider.seen.length, 0);
  const stop = new AbortController();
  const running = connections.mutate('shop', 'post', call, plenty({ signal: stop.signal }));
  await arrived.promise;
  stop.abort();
  assert.equal(uncertain(await running).callEnded, true);
});

test('a call that is over sends nothing more: the rest of a large body never arrives', async (t) => {
  const total = 64 * 1024 * 1024;
  const connected = Promise.withResolvers<Socket>();
  const url = await startTcp(t, (socket) => connected.resolve(socket.pause()));
  const connections = open(t, { shop: { type: 'http', baseUrl: url } });
  const args = { path: '/', text: 'x'.repeat(total) };
  const outcome = uncertain(await connections.mutate('shop', 'post', args, plenty({ deadline: Date.now() + 1_500 })));
  assert.equal(outcome.callEnded, true);
  const socket = await connected.promise;
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  await new Promise((resolve) => socket.once('close', resolve).resume());
  assert.ok(received < total, `${received} bytes of ${total} arrived`);
});

test('a server that closes the line between two calls spoils neither', async (t) => {
  let closed = Promise.withResolvers<void>();
  const provider = await startProvider(t, (response, _seen, request) => {
    json(response, 200, {});
    request.socket.once('close', () => closed.resolve());
    response.on('finish', () => request.socket.end());
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  for (let i = 0; i < 3; i++) {
    assert.equal((await connections.mutate('shop', 'post', call, plenty())).kind, 'applied');
    await closed.promise;
    closed = Promise.withResolvers();
  }
  assert.equal(provider.seen.length, 3);
});

test('a line that rested carries no mutation: the server may be about to close it', async (t) => {
  const ports = new Set<number | undefined>();
  const provider = await startProvider(t, (response, _seen, request) => {
    ports.add(request.socket.remotePort);
    json(response, 200, {});
  });
  let now = Date.now();
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } }, { clock: { now: () => now } });
  const send = () => connections.mutate('shop', 'post', call, plenty({ deadline: now + 5_000 }));
  await send();
  await send();
  assert.equal(ports.size, 1, 'a line in use is used again');
  now += 600;
  await send();
  assert.equal(ports.size, 2);
});

test('reads give 404 and other 4xx as values, 401, 403, 429 and 5xx as errors', async (t) => {
  const provider = await startProvider(t, (response, { url }) => json(response, Number(url.slice(1)), { code: url }));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  for (const status of [200, 304, 400, 404, 408, 409, 410, 422]) {
    const outcome = await connections.read('shop', 'get', { path: `/${status}` });
    assert.equal(outcome.kind, 'answered', `${status}`);
    assert.equal((outcome as { result: { status: number } }).result.status, status);
  }
  const classes: string[] = [];
  for (const status of [401, 403, 429, 500, 503]) {
    classes.push(errorOf(await connections.read('shop', 'get', { path: `/${status}` })).class);
  }
  assert.deepEqual(classes, ['auth', 'permission', 'transient', 'transient', 'transient']);
});

test('a read whose server hangs or drops the connection is transient', async (t) => {
  const provider = await startProvider(t, (_response, { url }, request) => {
    if (url === '/drop') request.socket.destroy();
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, timeoutMs: 500 } });
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/drop' })).class, 'transient');
  assert.equal(errorOf(await connections.read('shop', 'get', { path: '/hang' })).class, 'transient');
});

test('bodies are JSON, text or base64, by what they are', async (t) => {
  const bodies: Record<string, [string | undefined, Buffer]> = {
    '/json': ['application/problem+json; charset=utf-8', Buffer.from('{"a":1}')],
    '/html': ['text/html', Buffer.from('<p>{"a":1}</p>')],
    '/wrong': ['application/json', Buffer.from('<p>sorry</p>')],
    '/none': [undefined, Buffer.from('[1]')],
    '/latin': ['text/plain; charset=iso-8859-1', Buffer.from([0x63, 0x61, 0x66, 0xe9])],
    '/image': ['image/png', Buffer.from([0x89, 0x50, 0xff])],
    '/empty': ['application/json', Buffer.alloc(0)],
  };
  const provider = await startProvider(t, (response, { url }) => {
    const [type, body] = bodies[url] ?? ['', Buffer.alloc(0)];
    response.writeHead(200, type === undefined ? {} : { 'content-type': type });
    response.end(body);
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url } });
  const got: Record<string, unknown> = {};
  for (const path of Object.keys(bodies)) {
    const outcome = await connections.read('shop', 'get', { path });
    got[path] = (outcome as { result: { body: unknown } }).result.body;
  }
  assert.deepEqual(got, {
    '/json': { a: 1 },
    '/html': '<p>{"a":1}</p>',
    '/wrong': '<p>sorry</p>',
    '/none': [1],
    '/latin': 'café',
    '/image': 'iVD/',
    '/empty': null,
  });
  const head = await connections.read('shop', 'head', { path: '/json' });
  assert.equal((head as { result: { body: unknown } }).result.body, null);
});
