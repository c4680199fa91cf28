import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { ExecutionId, MessageId, WorkerId } from '#base';
import { NatsBus } from '#bus';
import type { Message, Write } from '#model';
import { EXE, message, WF } from '../store/rows.ts';
import { findNats, NatsServer, NO_NATS } from '../support/nats-server.ts';

// The second way for messages, on a real server: what arrives, what does not, and that nobody ever waits for it.

const options = { timeout: 180_000, skip: findNats() === undefined ? NO_NATS : false };
let server: NatsServer;
let outside: NatsConnection;
let streams: JetStreamManager;
let prefixes = 0;

before(async () => {
  if (findNats() === undefined) return;
  server = await NatsServer.open();
  outside = await connect({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  streams = await jetstreamManager(outside);
});
after(async () => {
  await outside?.close();
  await server?.close();
});

class Place {
  readonly prefix = `test${++prefixes}`;
  readonly errors: string[] = [];
  readonly news: string[] = [];
  readonly #buses: NatsBus[] = [];

  constructor(t: TestContext) {
    t.after(() => Promise.all(this.#buses.map((bus) => bus.close())));
  }

  async bus(pool = 'default'): Promise<NatsBus> {
    const bus = new NatsBus({
      servers: [server.url],
      prefix: this.prefix,
      replicas: 1,
      name: 'test',
      poolOf: () => Promise.resolve(pool),
      onError: (error) => this.errors.push(String(error)),
      onNews: (text) => this.news.push(text),
    });
    this.#buses.push(bus);
    bus.start();
    await until('it is up', () => bus.isUp);
    return bus;
  }

  async countOf(stream: 'work' | 'messages'): Promise<number> {
    return (await streams.streams.info(`${this.prefix}_${stream}`)).state.messages;
  }
}

/** Takes so many, and notes which. */
class Taken {
  readonly executions: string[] = [];
  room: number;

  constructor(room = 10) {
    this.room = room;
  }

  free(): number {
    return this.room;
  }

  offer({ execution }: { readonly execution: ExecutionId }): boolean {
    if (this.room <= 0) return false;
    this.executions.push(execution);
    return true;
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 15_000; !(await holds()); await sleep(20)) {
    if (Date.now() > end) assert.fail(`it never came to pass that ${what}`);
  }
}

const msg = (n: number | string): MessageId => `msg_${n}` as MessageId;

function scheduled(n: number, over: Partial<Message> = {}): Message {
  return message({
    id: msg(n),
    type: 'execution.scheduled',
    executionId: `exe_${n}` as ExecutionId,
    epoch: 1,
    ...over,
  });
}

function sent(...rows: readonly Message[]): Write[] {
  return rows.map((row) => ({ set: 'message.sent', row }));
}

test('what is handed off is offered to one worker of its pool, and told to whoever listens', options, async (t) => {
  const place = new Place(t);
  const [sender, one, two, other] = [await place.bus(), await place.bus(), await place.bus(), await place.bus()];
  const [first, second, heavy] = [new Taken(), new Taken(), new Taken()];
  one.work('default', first);
  two.work('default', second);
  other.work('heavy', heavy);
  const rows = Array.from({ length: 20 }, (_, i) => scheduled(i));
  sender.wrote([...sent(...rows), ...sent(message({ id: msg('c'), type: 'execution.completed' }))]);
  await until('all are taken', () => first.executions.length + second.executions.length === 20);
  assert.equal(new Set([...first.executions, ...second.executions]).size, 20);
  assert.deepEqual(heavy.executions, []);
  await until('nothing is left in the queue', async () => (await place.countOf('work')) === 0);
  await until('listeners have all of it', async () => (await place.countOf('messages')) === 21);
  assert.ok(sender.hasArrived(msg(0)) && sender.hasArrived(msg('c')));
  const told = await streams.streams.getMessage(`${place.prefix}_messages`, {
    last_by_subj: `${place.prefix}.messages.execution.completed.${WF}`,
  });
  assert.deepEqual(told?.json(), {
    version: 1,
    id: msg('c'),
    type: 'execution.completed',
    execution: EXE,
    workflow: WF,
    epoch: 0,
    createdAt: message().createdAt,
  });
});

test('what its own process has taken in the same commit is in nobody’s queue', options, async (t) => {
  const place = new Place(t);
  const bus = await place.bus();
  const row = scheduled(1);
  const running = { set: 'execution.running', execution: row.executionId, epoch: 1, owner: 'wrk_1' as WorkerId, at: 1 };
  bus.wrote([...sent(row), running as Write]);
  await until('it is told', async () => (await place.countOf('messages')) === 1);
  assert.equal(await place.countOf('work'), 0);
});

test('the same message twice arrives once; what nobody has sent is sent before it is deleted', options, async (t) => {
  const place = new Place(t);
  const [one, two] = [await place.bus(), await place.bus()];
  const rows = [message({ id: msg(1) }), message({ id: msg(2) })];
  one.wrote(sent(...rows.slice(0, 1)));
  await until('it has arrived', () => one.hasArrived(msg(1)));
  await two.relay(rows);
  assert.equal(await place.countOf('messages'), 2);
  assert.ok(two.hasArrived(msg(1)) && two.hasArrived(msg(2)));
});

test('a worker without room leaves it to another', options, async (t) => {
  const place = new Place(t);
  const [sender, one, two] = [await place.bus(), await place.bus(), await place.bus()];
  const [full, late] = [new Taken(1), new Taken(0)];
  one.work('default', full);
  two.work('default', late);
  await until('it asks', async () => {
    const found = await streams.consumers.info(`${place.prefix}_work`, 'pool-default').catch(() => undefined);
    return (found?.num_waiting ?? 0) > 0;
  });
  // It has asked for one, and has no room any more when that comes.
  full.room = 0;
  sender.wrote(sent(scheduled(1)));
  await sleep(300);
  assert.deepEqual([full.executions, late.executions], [[], []]);
  late.room = 1;
  await until('the other one has it', () => late.executions.length === 1);
  assert.deepEqual(full.executions, []);
});

test('nonsense is dropped, and a message of another version stays for whoever knows it', options, async (t) => {
  const place = new Place(t);
  const bus = await place.bus();
  const stream = jetstream(outside);
  const subject = `${place.prefix}.work.default`;
  for (const text of ['', 'nonsense', '7', '[]', '{}', '{"version":1,"id":7}']) await stream.publish(subject, text);
  await stream.publish(subject, JSON.stringify({ version: 99, id: 'msg_x', execution: 'exe_x' }));
  const taken = new Taken();
  bus.work('default', taken);
  bus.wrote(sent(scheduled(1)));
  await until('what makes sense is taken', () => taken.executions.length === 1);
  assert.deepEqual(taken.executions, ['exe_1']);
  await until('only the strange one is left', async () => (await place.countOf('work')) === 1);
});

test('a pool may have any name', options, async (t) => {
  const place = new Place(t);
  const name = 'heavy. work > * ü';
  const bus = await place.bus(name);
  const taken = new Taken();
  bus.work(name, taken);
  bus.wrote(sent(scheduled(1)));
  await until('it is taken', () => taken.executions.length === 1);
});

test(
  'while NATS is away nobody waits, and it is said once; when it is back, even with nothing, all goes on',
  options,
  async (t) => {
    const place = new Place(t);
    const bus = await place.bus();
    const taken = new Taken();
    bus.work('default', taken);
    bus.wrote(sent(scheduled(1)));
    await until('it is taken', () => taken.executions.length === 1);
    await server.kill();
    server.forget();
    await until('it is seen to be away', () => !bus.isUp);
    const before = performance.now();
    bus.wrote(sent(scheduled(2)));
    await bus.relay([scheduled(2)]);
    assert.ok(performance.now() - before < 2_000, 'nobody waited');
    assert.equal(bus.hasArrived(msg(2)), false);
    await server.start();
    await until('it is up again', () => bus.isUp);
    bus.wrote(sent(scheduled(3)));
    await until('what is handed off now is taken', () => taken.executions.includes('exe_3'));
    assert.equal(
      place.errors.filter((error) => /listeners hear nothing/.test(error)).length,
      1,
      place.errors.join('\n'),
    );
    assert.deepEqual(place.news, ['NATS is back: messages go over it again']);
  },
);

test('a process that starts while NATS is away goes on without it, and finds it later', options, async (t) => {
  await server.kill();
  const errors: string[] = [];
  const news: string[] = [];
  const bus = new NatsBus({
    servers: [server.url],
    prefix: `test${++prefixes}`,
    replicas: 1,
    name: 'early',
    poolOf: () => Promise.resolve('default'),
    onError: (error) => errors.push(String(error)),
    onNews: (text) => news.push(text),
  });
  t.after(() => bus.close());
  bus.start();
  await until('it says so', () => errors.length === 1);
  assert.equal(bus.isUp, false);
  await server.start();
  await until('it is up', () => bus.isUp);
  assert.deepEqual(news, ['NATS is back: messages go over it again']);
});
