import {
  type Call,
  EVENT_PAYLOAD_CHARS_MAX,
  NAME_CHARS_MAX,
  type Publish,
  RESERVATIONS_MAX,
  RESULT_CHARS_MAX,
  STATE_CHARS_MAX,
  TITLE_CHARS_MAX,
} from '#model';
import { applyAndEmit, CALL, deploy, PERSON, placed } from '../support/fixture.ts';
import { emitting, mutating, preparing, published, send, unknown } from '../support/stage.ts';
import { forEachStore } from '../support/world.ts';

// Text, JSON and lists that are missing, malformed or too large: refused, in words, without a row changed.

const LONG = (chars: number) => `"${'x'.repeat(chars)}"`;

const BAD_PUBLISHES: Readonly<Record<string, Partial<Publish>>> = {
  'a payload that is no JSON': { payload: '{' },
  'an empty payload': { payload: '' },
  'a payload that is no text': { payload: { a: 1 } as never },
  'a payload over its limit': { payload: LONG(EVENT_PAYLOAD_CHARS_MAX) },
  'an empty message id': { messageId: '' },
  'a message id over its limit': { messageId: 'x'.repeat(NAME_CHARS_MAX + 1) },
  'a message id with a control character': { messageId: 'a\u0000b' },
  'a message id with half a letter': { messageId: '\ud800' },
  'an empty title': { title: '' },
  'a title over its limit': { title: 'x'.repeat(TITLE_CHARS_MAX + 1) },
};

for (const [name, bad] of Object.entries(BAD_PUBLISHES)) {
  forEachStore(`publishing ${name}`, async (world) => {
    const { workflow, fence, run } = await emitting(world);
    const publish = { ...placed('2', '{}', 'order.booked'), ...bad };
    await world.refuses('invalid', () => world.manager.publishEvents(workflow, [publish], PERSON));
    await world.refuses('invalid', () => world.manager.commitConsumer(fence, run, { publishes: [publish] }));
  });
}

forEachStore('publishing to a topic that is not declared', async (world) => {
  const workflow = await deploy(world.manager);
  const publish = [placed('1'), placed('2', '{}', 'nowhere')];
  await world.refuses('not-subscribed', () => world.manager.publishEvents(workflow, publish, PERSON), /"nowhere"/);
});

const BAD_CALLS: Readonly<Record<string, Partial<Call>>> = {
  'without a connection': { connection: '' },
  'without a method': { method: ' ' },
  'whose parameters are no JSON': { params: 'x' },
  'whose parameters are over their limit': { params: LONG(RESULT_CHARS_MAX) },
  'without a preview': { preview: '' },
  'with an empty title': { title: '' },
  'with a title over its limit': { title: 'x'.repeat(TITLE_CHARS_MAX + 1) },
  'without a timeout': { timeoutMs: 0 },
  'with a timeout that is no number': { timeoutMs: Number.NaN },
  'with a timeout without end': { timeoutMs: Number.POSITIVE_INFINITY },
  'with a visibility delay before its end': { visibilityMs: -1 },
  'with a visibility delay without end': { visibilityMs: Number.POSITIVE_INFINITY },
};

for (const [name, bad] of Object.entries(BAD_CALLS)) {
  forEachStore(`a call ${name}`, async (world) => {
    const { fence, run } = await mutating(world);
    await world.refuses('invalid', () => world.manager.startMutation(fence, run, { ...CALL, ...bad }));
  });
}

const BAD_JSON: Readonly<Record<string, (limit: number) => string>> = {
  'no JSON': () => '{"a":}',
  empty: () => '',
  'over its limit': (limit) => LONG(limit),
};

for (const [name, bad] of Object.entries(BAD_JSON)) {
  forEachStore(`a state, prepare result or result that is ${name}`, async (world) => {
    const { manager } = world;
    const stage = await preparing(world);
    const { workflow, fence, run } = stage;
    const prepareResult = bad(RESULT_CHARS_MAX);
    await world.refuses('invalid', () => manager.updateConsumerPhase(fence, run, 'prepared', { prepareResult }));
    const { mutation } = await send(world, stage);
    const answer = { resolvedBy: 'provider' } as const;
    const result = bad(RESULT_CHARS_MAX);
    await world.refuses('invalid', () => manager.updateMutationResult(mutation, 'success', { fence, answer, result }));
    await applyAndEmit(manager, fence, run, mutation);
    const state = bad(STATE_CHARS_MAX);
    await world.refuses('invalid', () => manager.commitConsumer(fence, run, { state }));
    await world.refuses('invalid', () => manager.setHandlerState(workflow, 'poll', state, PERSON));
    await manager.commitConsumer(fence, run);
    const poll = await manager.startRun(fence, 'poll');
    await world.refuses('invalid', () => manager.commitProducer(fence, poll.run, { state }));
  });
}

forEachStore('names and reasons that are empty or over their limit', async (world) => {
  const { manager } = world;
  const { workflow, mutation } = await unknown(world);
  const long = 'x'.repeat(NAME_CHARS_MAX + 1);
  for (const name of ['', long]) {
    await world.refuses('invalid', () => manager.createWorkflow(name, PERSON));
    await world.refuses('invalid', () => manager.cureConnection(name, PERSON));
    const worker = world.ids.next('worker');
    await world.refuses('invalid', () => manager.registerWorker(worker, { name, pool: 'p', leaseMs: 1 }));
    await world.refuses('invalid', () => manager.registerWorker(worker, { name: 'n', pool: name, leaseMs: 1 }));
    const evidence = { says: 'applied', detail: 'x', source: name } as const;
    await world.refuses('invalid', () => manager.recordEvidence(mutation, evidence));
  }
  await world.refuses('invalid', () => manager.holdWorkflow(workflow, ''));
  await world.refuses('invalid', () => manager.recordEvidence(mutation, { says: 'applied', detail: '', source: 'x' }));
});

forEachStore('lists of events that are empty, too long or repeat themselves', async (world) => {
  const { manager } = world;
  await published(world);
  const event = world.event('1');
  const many = Array.from({ length: RESERVATIONS_MAX + 1 }, () => event);
  for (const act of ['skipEvents', 'parkEvents', 'unparkEvents', 'redoEvents'] as const) {
    await world.refuses('invalid', () => manager[act]([], PERSON), /0 events/);
    await world.refuses('invalid', () => manager[act](many, PERSON), /1001 events/);
    await world.refuses('invalid', () => manager[act]([event, event], PERSON), /twice/);
  }
});
