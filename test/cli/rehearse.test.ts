import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { configFor, EngineProcess, ORDERS, Shop } from './running-engine.ts';
import { type Typed, type } from './typed-terminal.ts';

let folder = '';
let server: Server;
/** Everything that left the rehearsal; mutations must never be among it. */
const requests: string[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-rehearse-'));
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"price":7}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  writeFileSync(join(folder, 'pawl.config.ts'), config());
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  requests.length = 0;
});

function config(settings: object = {}): string {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reconcile = { get: '/bookings?key={key}', applied: { has: { 'body.key': '{key}' } }, failed: { status: 404 } };
  const connections = {
    shop: { type: 'http', baseUrl, reconcile, ...settings },
    desk: { type: 'http', baseUrl },
    notes: { type: 'files', root: './notes' },
  };
  return `import { defineConfig } from 'pawl';\nexport default defineConfig(${JSON.stringify({ connections })});\n`;
}

interface Parts {
  readonly prepare?: string;
  readonly next?: string;
  readonly more?: string;
}

/** Books at the shop, tells the desk, notes it in a file. */
function script({ prepare = '', next = '', more = '' }: Parts = {}): string {
  return `import { defineWorkflow, topic } from 'pawl';
type Order = { id: string };
export default defineWorkflow({
  name: 'orders',
  uses: { shop: 'http', desk: 'http', notes: 'files' },
  topics: { placed: topic<Order>(), booked: topic<Order>(), told: topic<Order>() },
})
  .consumer('book', {
    subscribe: ['placed'],
    publishes: ['booked'],
    state: { count: 0 },
    async prepare(ctx, state) {
      const [event] = await ctx.peek('placed', { limit: 1 });
      if (!event) return ctx.idle();
      ${prepare}
      const { id } = event.payload;
      return ctx.take(event, { data: { id, count: state.count + 1, at: Date.now() }, title: 'Book ' + id });
    },
    async mutate(ctx, { data }) {
      return ctx.shop.post<{ ref: string }>({ path: '/bookings', json: { id: data.id } });
    },
    async next(ctx, { data }, result) {
      ${next}
      ctx.publish('booked', { messageId: data.id, payload: { id: data.id } });
      return { count: data.count };
    },
  })
  .each('tell', 'booked', {
    publishes: ['told'],
    title: ({ id }) => 'Tell of ' + id,
    mutate: async (ctx, { id }) => ctx.desk.post({ path: '/told', json: { id } }),
    next(ctx, { id }) {
      ctx.publish('told', { messageId: id, payload: { id } });
    },
  })
  .each('note', 'told', {
    title: ({ id }) => 'Note ' + id,
    mutate: async (ctx, { id }) => ctx.notes.append({ path: 'notes.txt', text: id + '\\n' }),
  })${more};
`;
}

const EVENTS = [{ topic: 'placed', messageId: '1', payload: { id: '1' } }];
const TWO_EVENTS = [...EVENTS, { topic: 'placed', messageId: '2', payload: { id: '2' } }];

function written(name: string, content: string | object): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function rehearse(source: string, samples: object, ...argv: string[]): Promise<Typed> {
  const file = written('orders.ts', source);
  const events = written('samples.json', samples);
  return type(['rehearse', file, '--events', events, '--config', join(folder, 'pawl.config.ts'), ...argv]);
}

interface Row {
  readonly handler: string | null;
  readonly place: string;
  readonly words: string;
  readonly count: number;
  readonly isSound: boolean;
}

interface Answer {
  readonly schema: number;
  readonly ok: boolean;
  readonly calls: readonly { handler: string; title: string; result: { body: unknown } }[];
  readonly matrix: readonly Row[];
  readonly crashPoints: readonly unknown[];
  readonly crashPointCount: number;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

test('a workflow is run with every effect captured, then with a crash at every point, and each is told', async () => {
  const typed = await rehearse(script(), TWO_EVENTS);
  assert.equal(typed.code, 0, typed.out + typed.err);
  for (const line of [
    /orders: 6 runs, 6 calls captured; nothing left this machine/,
    /book +Book 1 +POST http:\/\/127\.0\.0\.1:\d+\/bookings/,
    /book +before its call is recorded +nothing was sent: its events are free again/,
    /book +its call is recorded, and not yet sent +asks shop what became of it: it did not happen, so it is sent now +2 +ok/,
    /book +its call was made, and the answer is not recorded +asks shop what became of it: it happened, so it goes on at next/,
    /book +the answer is recorded, and next has not committed +nothing is sent again: goes on at next/,
    /tell +its call is recorded, and not yet sent +would ask you whether it happened, since desk cannot be asked; no: it is sent now/,
    /tell +its call was made, and the answer is not recorded +would ask you whether it happened, .*; yes: goes on at next/,
    /note +the answer is recorded, and it has not committed +nothing is sent again: goes on to its commit/,
    /\d+ crash points tried: every effect once, and nothing lost\n$/,
  ]) {
    assert.match(typed.out, line);
  }
  assert.deepEqual(requests, [], 'something left the rehearsal');
  assert.equal(existsSync(join(folder, 'notes')), false, 'a file was made');
});

test('as JSON it is one document, with every crash point and the matrix', async () => {
  const typed = await rehearse(script(), EVENTS, '--json');
  assert.equal(typed.code, 0, typed.out);
  const answer = typed.json<Answer>();
  assert.deepEqual([answer.schema, answer.ok, answer.problems], [1, true, []]);
  assert.equal(answer.crashPoints.length, answer.crashPointCount);
  assert.equal(
    answer.matrix.reduce((sum, { count }) => sum + count, 0),
    answer.crashPointCount,
  );
  const places = new Set(answer.matrix.filter(({ handler }) => handler === 'book').map(({ place }) => place));
  assert.deepEqual([...places].sort(), ['before next', 'before the call', 'call made', 'call recorded']);
  assert.match(answer.notes.join('\n'), /shop\.post was answered with a made-up result/);
});

test('its temporary folder is gone afterwards', async (t) => {
  const own = mkdtempSync(join(folder, 'temporary-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = own;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const seen = new Set<string>();
  const watcher = watch(own, (_event, name) => seen.add(String(name)));
  t.after(() => watcher.close());
  assert.equal((await rehearse(script(), EVENTS)).code, 0);
  assert.ok(
    [...seen].some((name) => name.startsWith('pawl-rehearsal-')),
    'it was somewhere else',
  );
  assert.deepEqual(readdirSync(own), []);
});

describe('a read', () => {
  const reads = script({ prepare: "await ctx.shop.get({ path: '/price', query: { of: event.payload.id } });" });

  test('that nothing is recorded of is an error that says how to give it', async () => {
    const typed = await rehearse(reads, EVENTS);
    assert.equal(typed.code, 1);
    assert.match(
      typed.out,
      /book failed: .*no recorded answer for shop\.get\(\{"path":"\/price","query":\{"of":"1"\}\}\)/,
    );
    assert.match(typed.out, /--from-engine.*--allow-reads/);
    assert.deepEqual(requests, []);
  });

  test('is answered from the samples', async () => {
    const answered = (of: string): object => {
      const answer = { status: 200, headers: {}, body: { price: 7 } };
      return { connection: 'shop', method: 'get', request: { query: { of }, path: '/price' }, answer };
    };
    const typed = await rehearse(reads, { events: EVENTS, reads: [answered('2'), answered('1')] });
    assert.equal(typed.code, 0, typed.out);
    assert.deepEqual(requests, []);
  });

  test('is really made where that is allowed, once, and a mutation never is', async () => {
    const typed = await rehearse(reads, EVENTS, '--allow-reads');
    assert.equal(typed.code, 0, typed.out);
    assert.deepEqual(requests, ['GET /price?of=1']);
  });
});

test('what a call answers is given to next', async () => {
  const next =
    "if (result.status !== 'applied' || result.result?.body.ref !== 'b-7') throw new Error('it is not b-7');";
  const plain = await rehearse(script({ next }), EVENTS);
  assert.equal(plain.code, 1);
  assert.match(plain.out, /WRONG: book failed: Error: it is not b-7 \(orders\.ts:\d+/);
  assert.match(plain.out, /without a crash it does not work, so none was tried/);
  const result = { status: 201, headers: {}, body: { ref: 'b-7' } };
  const given = { events: EVENTS, mutations: [{ connection: 'shop', method: 'post', result }] };
  assert.equal((await rehearse(script({ next }), given)).code, 0);
  const wrong = { events: EVENTS, mutations: [{ connection: 'shop', method: 'post', result: 'b-7' }] };
  const refused = await rehearse(script({ next }), wrong);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /this is not a result of shop\.post/);
});

test('a script that comes to something else after a crash is found out', async () => {
  // An outcome that had to be looked up takes time, and this script makes something of how long it took.
  const next =
    "if (Date.now() > data.at) ctx.publish('booked', { messageId: 'late-' + data.id, payload: { id: data.id } });";
  const typed = await rehearse(script({ next }), EVENTS);
  assert.equal(typed.code, 1, typed.out);
  assert.match(typed.out, /WRONG: book, its call was made.*: 2 events are booked consumed, without the crash 1/);
  assert.match(typed.out, /not everything came out as without a crash/);
});

test('a call that needs approval is approved by you, and a crash before that sends nothing', async () => {
  writeFileSync(join(folder, 'careful.config.ts'), config({ approval: { post: 'always' } }));
  const file = written('orders.ts', script());
  const events = written('samples.json', EVENTS);
  const argv = ['rehearse', file, '--events', events, '--config', join(folder, 'careful.config.ts')];
  const typed = await type(argv);
  assert.equal(typed.code, 0, typed.out);
  assert.match(typed.out, /Book 1 .*after your approval/);
  assert.match(typed.out, /book +its call waits for approval +nothing was sent: it still waits for your approval/);
});

test('a service that can only say what it did is asked, and then you are', async () => {
  const reconcile = { get: '/bookings?key={key}', applied: { has: { 'body.key': '{key}' } } };
  writeFileSync(join(folder, 'half.config.ts'), config({ reconcile }));
  const file = written('orders.ts', script());
  const events = written('samples.json', EVENTS);
  const typed = await type(['rehearse', file, '--events', events, '--config', join(folder, 'half.config.ts')]);
  assert.equal(typed.code, 0, typed.out);
  assert.match(
    typed.out,
    /and not yet sent +asks shop, which cannot say that something did not happen, and then would ask you; no: it is sent now/,
  );
  assert.match(typed.out, /answer is not recorded +asks shop what became of it: it happened, so it goes on at next/);
});

test('without a config connections are made up, and that is said', async () => {
  const file = written('orders.ts', script());
  const events = written('samples.json', EVENTS);
  const config = written('empty.config.ts', 'export default {};');
  const typed = await type(['rehearse', file, '--events', events, '--config', config]);
  assert.equal(typed.code, 0, typed.out);
  assert.match(typed.out, /note: the config has no connection "shop"/);
  assert.match(typed.out, /POST https:\/\/shop\.invalid\/bookings/);
  assert.match(typed.out, /would ask you whether it happened, since shop cannot be asked/);
});

test('without events the producers run, and with deliveries the webhooks', async () => {
  const more = `
  .webhook('hook', { publishes: ['placed'], verify: 'standard', body: topic<Order>(), async handler(ctx, { body }) {
    ctx.publish('placed', { messageId: body.id, payload: body });
  } })
  .producer('poll', { publishes: ['placed'], schedule: { interval: '5m' }, async handler(ctx) {
    ctx.publish('placed', { messageId: 'polled', payload: { id: 'polled' } });
  } })`;
  const polled = await rehearse(script({ more }), []);
  assert.equal(polled.code, 0, polled.out);
  assert.match(polled.out, /4 runs, 3 calls captured/);
  assert.match(polled.out, /poll +while it runs +nothing of it was kept: it runs again from the start/);
  const delivered = await rehearse(script({ more }), { deliveries: [{ webhook: 'hook', body: { id: 'd' } }] });
  assert.equal(delivered.code, 0, delivered.out);
  assert.match(delivered.out, /hook +while it runs/);
  assert.match(delivered.out, /Book d/);
  const both = await rehearse(script({ more }), EVENTS, '--producers', '--json');
  assert.equal(both.json<Answer>().calls.length, 6);
});

test('a script that is invalid ends with 3, and samples that are none with 2', async () => {
  const invalid = await rehearse('export default 1;', EVENTS);
  assert.equal(invalid.code, 3);
  assert.match(invalid.err, /error: /);
  const file = written('orders.ts', script());
  assert.equal(
    (await type(['rehearse', file, '--events', join(folder, 'nowhere.json')])).code,
    4,
    'there is no such file',
  );
  for (const [samples, says] of [
    ['{"events":[{"payload":1}]}', /events\.0\.topic/],
    ['{"event":[]}', /event/],
    ['nonsense', /is not JSON/],
  ] as const) {
    const typed = await type(['rehearse', file, '--events', written('samples.json', samples)]);
    assert.equal(typed.code, 2);
    assert.match(typed.err, says);
  }
  assert.equal((await type(['rehearse', file, '--limit', '0'])).code, 2);
});

describe('of an engine', () => {
  let shop: Shop;
  let engine: EngineProcess;
  let data = '';
  let file = '';
  const pawl = (...argv: string[]): Promise<Typed> => type(argv, { env: { PAWL_DATA: data } });

  before(async () => {
    data = join(folder, 'data');
    shop = await Shop.open();
    const config = written('engine.config.ts', configFor(shop));
    const reading = ORDERS.replace(
      "ctx.log('found one');",
      "await ctx.shop.get({ path: '/orders' });\n      ctx.log('found one');",
    );
    file = written('recorded.ts', reading);
    engine = new EngineProcess(['--config', config, '--data', data, '--port', '0']);
    await engine.ready();
    assert.equal((await pawl('deploy', file)).code, 0);
    assert.equal((await pawl('trigger', 'orders')).code, 0);
    const deadline = Date.now() + 60_000;
    for (;;) {
      const { items } = (await pawl('inputs', 'orders', '--json')).json<{ items: { state: string }[] }>();
      if (items.length > 0 && items.every(({ state }) => state === 'done')) break;
      assert.ok(Date.now() < deadline, 'it never came');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  after(async () => {
    await engine.end();
    await shop.close();
  });

  test('its recorded events, reads and answers are rehearsed with, and it is not touched', async () => {
    const booked = shop.bookings.length;
    const config = join(folder, 'engine.config.ts');
    const typed = await pawl('rehearse', file, '--from-engine', '--config', config, '--json');
    assert.equal(typed.code, 0, typed.out);
    const { calls, notes } = typed.json<Answer>();
    assert.deepEqual(
      calls.map(({ title, result }) => [title, result.body]),
      [['Book o-1', { ref: 'b-1' }]],
    );
    assert.deepEqual(notes, []);
    const polled = await pawl('rehearse', file, '--from-engine', '--producers', '--config', config, '--json');
    assert.equal(polled.code, 0, polled.out);
    assert.match(polled.out, /"handler":"find","place":"producing"/);
    assert.equal(shop.bookings.length, booked, 'something was booked');
  });

  test('a workflow it does not have ends with 4, and no engine with 7', async () => {
    assert.equal((await pawl('rehearse', file, '--from-engine', '--workflow', 'nothing')).code, 4);
    const nobody = await type(['rehearse', file, '--from-engine', '--data', join(folder, 'nobody')]);
    assert.equal(nobody.code, 7);
  });
});
