import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineProcess as Process } from '../kills/engine-process.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { configFor, EngineProcess, ORDERS, Shop } from './running-engine.ts';
import { type } from './typed-terminal.ts';

const PAYLOAD = 'canary-91c2';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
}

/** Whoever collects: OTLP over HTTP, on this machine. */
async function collector(t: TestContext, answers: () => number) {
  const bodies: string[] = [];
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const status = answers();
    asked.push(`${request.method} ${request.url} ${request.headers['content-type']} ${request.headers['x-key']}`);
    if (status === 200) bodies.push(Buffer.concat(parts).toString('utf8'));
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const spans = (): Span[] => bodies.flatMap((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans as Span[]);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, asked, spans };
}

/** One order booked by a real engine that was told where to send spans; what it said when it ended. */
async function booked(
  t: TestContext,
  env: Record<string, string>,
  isOver: () => boolean = () => true,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-traces-'));
  const shop = await Shop.open();
  const data = join(folder, 'data');
  const config = join(folder, 'pawl.config.ts');
  const script = join(folder, 'orders.ts');
  writeFileSync(config, configFor(shop));
  writeFileSync(script, ORDERS);
  const engine = new EngineProcess(['--config', config, '--data', data, '--port', '0'], env);
  t.after(async () => {
    engine.child.kill('SIGKILL');
    await shop.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await engine.ready();
  const at = { env: { PAWL_DATA: data, USER: 'ada' } };
  assert.equal((await type(['deploy', script], at)).code, 0);
  const event = ['publish', 'orders', 'order.placed', JSON.stringify({ id: PAYLOAD }), '--message-id', 'm-1'];
  assert.equal((await type(event, at)).code, 0);
  const deadline = Date.now() + 60_000;
  while (!shop.bookings.some((body) => body.includes(PAYLOAD)) || !isOver()) {
    assert.ok(Date.now() < deadline, 'it was never booked');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { code, err } = await engine.end();
  assert.equal(code, 0, err);
  return err;
}

test('one trace leads from the trigger to the commit, and has nothing of what was sent', async (t) => {
  const { url, spans, bodies, asked } = await collector(t, () => 200);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_SERVICE_NAME: 'till',
  };
  await booked(t, env);
  assert.ok(
    asked.every((each) => each === 'POST /v1/traces application/json a b'),
    asked.join('\n'),
  );
  assert.match(bodies[0] ?? '', /"service.name","value":\{"stringValue":"till"\}/);
  traced(spans());
  for (const secret of [PAYLOAD, '/bookings', 'b-1']) assert.ok(!bodies.join('').includes(secret), secret);
});

/** Every span has its parent among what was sent, up to the trigger. */
function traced(all: readonly Span[]): void {
  const call = all.find(({ name }) => name === 'shop.post');
  assert.ok(call, JSON.stringify(all.map(({ name }) => name)));
  assert.deepEqual([call.kind, call.status.code], [3, 1]);
  const above = (span: Span): Span => {
    const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
    assert.ok(parent, `${span.name} has no parent`);
    assert.equal(parent.traceId, span.traceId);
    assert.ok(BigInt(parent.startTimeUnixNano) <= BigInt(span.startTimeUnixNano));
    assert.ok(BigInt(parent.endTimeUnixNano) >= BigInt(span.endTimeUnixNano));
    return parent;
  };
  const run = above(call);
  const session = above(run);
  const trigger = above(session);
  assert.deepEqual([run.name, session.name], ['run book', 'session']);
  assert.match(trigger.name, /^trigger (?:event|manual|schedule|wake)$/);
  assert.equal(trigger.parentSpanId, undefined);
  assert.equal(new Set(all.map(({ spanId }) => spanId)).size, all.length, 'no span is told twice');
  for (const each of all) assert.match(`${each.traceId} ${each.spanId}`, /^[0-9a-f]{32} [0-9a-f]{16}$/);
  for (const each of all) if (each.parentSpanId !== undefined) above(each);
}

onPostgres('a trace over an executor and a worker has its trigger too', async (t) => {
  const { url, spans } = await collector(t, () => 200);
  const database = await freshDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'pawl-traces-'));
  const shop = await Shop.open();
  const [data, config, script] = [join(folder, 'data'), join(folder, 'pawl.config.ts'), join(folder, 'orders.ts')];
  writeFileSync(config, configFor(shop));
  writeFileSync(script, ORDERS);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, DATABASE_URL: database.url };
  const fleet = [
    new Process({ config, data, env, command: ['executor'] }),
    new Process({ config, data: join(folder, 'other'), env, command: ['worker'] }),
  ];
  t.after(async () => {
    await Promise.all(fleet.map((each) => each.end('SIGKILL')));
    await shop.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const each of fleet) await each.ready();
  const at = { env: { PAWL_DATA: data, USER: 'ada' } };
  assert.equal((await type(['deploy', script], at)).code, 0);
  const event = ['publish', 'orders', 'order.placed', '{"id":"o-2"}', '--message-id', 'm-1'];
  assert.equal((await type(event, at)).code, 0);
  for (const until = Date.now() + 60_000; shop.bookings.length === 0; await sleep(50)) {
    assert.ok(Date.now() < until, 'it was never booked');
  }
  for (const each of fleet.toReversed()) assert.equal((await each.end('SIGTERM')).code, 0, each.said);
  traced(spans());
});

test('a collector that fails holds nothing up, and is tried again', async (t) => {
  let answers = 0;
  const { url, spans } = await collector(t, () => (++answers === 1 ? 503 : 200));
  const said = await booked(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url }, () => answers > 0);
  const away = said.split('\n').filter((line) => line.includes('spans cannot be sent'));
  assert.deepEqual([away.length, away[0]?.includes('"level":"warn"')], [1, true], said);
  assert.ok(away[0]?.includes(`spans cannot be sent to ${url}/v1/traces: it answered 503`), said);
  assert.equal(said.match(/the collector is back: spans are sent again/g)?.length, 1, said);
  assert.ok(
    spans().some(({ name }) => name === 'shop.post'),
    'what could not be sent at first was sent later',
  );
});

test('without a collector in the environment nothing is sent anywhere', async (t) => {
  const { url, asked } = await collector(t, () => 200);
  await booked(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' });
  await booked(t, {});
  assert.deepEqual(asked, []);
});

test('metrics are sent where they are asked for, and the last ones when the engine ends', async (t) => {
  const { url, bodies, asked } = await collector(t, () => 200);
  const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/v1/metrics`, OTEL_METRIC_EXPORT_INTERVAL: '200' };
  await booked(t, env);
  assert.ok(
    asked.length > 0 && asked.every((each) => each.startsWith('POST /v1/metrics application/json')),
    asked.join(),
  );
  const last = bodies.at(-1) ?? '';
  const { metrics } = JSON.parse(last).resourceMetrics[0].scopeMetrics[0];
  const calls = metrics.find(({ name }: { name: string }) => name === 'pawl_calls_total');
  const applied = calls.sum.dataPoints.find((point: object) => JSON.stringify(point).includes('"applied"'));
  assert.equal(applied.asDouble, 1);
  assert.doesNotMatch(bodies.join(''), new RegExp(PAYLOAD));
});

test('a collector of metrics that is away is told of once, also when it is back, and holds nothing up', async (t) => {
  let answers = 0;
  const { url, bodies } = await collector(t, () => (++answers <= 3 ? 503 : 200));
  const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/v1/metrics`, OTEL_METRIC_EXPORT_INTERVAL: '100' };
  const said = await booked(t, env, () => bodies.length > 1);
  assert.equal(
    said.match(/"level":"warn".*metrics cannot be sent to http.*v1\/metrics: it answered 503/g)?.length,
    1,
    said,
  );
  assert.equal(said.match(/the collector is back: metrics are sent again/g)?.length, 1, said);
});
