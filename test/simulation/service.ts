import { z } from 'zod';
import type { Clock } from '#base';
import type {
  CallError,
  Connector,
  MutationLimits,
  MutationMethod,
  Outcome,
  ReadLimits,
  ReadMethod,
  ReadOutcome,
  Reconciled,
  Settings,
} from '#connector';
import { openConnections } from '#connector';
import type { CallEnd, WorldSpec } from './history.ts';
import { SHOP } from './shapes.ts';
import type { Stage } from './stage.ts';

const SECONDS = 1_000;
const TIMEOUT_MS = 10 * SECONDS;
const VISIBILITY_MS = 20 * SECONDS;
/** How long after its deadline an answer comes that nobody should wait for any more. */
const LATE_MS = 5 * SECONDS;
const SLOW_MS = 25 * SECONDS;
const RETRY_AFTER_MS = 5 * SECONDS;

const ARGS = z.object({ events: z.array(z.string()) });
type Args = z.infer<typeof ARGS>;
// Made once: zod takes longer to make a schema than a life takes to use it.
const ANYTHING = z.unknown();
const CONFIG = z.looseObject({ type: z.string() }) as unknown as z.ZodType<Settings>;

/** The connections of a world: one shop, open to whatever the stage decides. Only the registry around it is the engine's own. */
export function connectionsOf(stage: Stage, world: WorldSpec, clock: Clock) {
  const { approval } = world;
  const shop = {
    type: 'service',
    timeoutMs: TIMEOUT_MS,
    visibilityMs: VISIBILITY_MS,
    costPerCall: 1,
    approval: { book: approval, tell: approval, ship: approval },
  };
  return openConnections({ connections: { [SHOP]: shop } }, { clock, connectors: [serviceOf(stage, world.lookUp)] });
}

function serviceOf(stage: Stage, canReconcile: boolean): Connector {
  const mutation = mutationOf(stage, canReconcile);
  const mutations = { book: mutation, tell: mutation, ship: mutation };
  return {
    name: 'service',
    configSchema: CONFIG,
    configFields: [],
    defaults: { timeoutMs: TIMEOUT_MS, concurrency: 4 },
    reads: { list: readOf(stage) },
    mutations,
    open: () => undefined,
    test: async () => ({ kind: 'answered', result: null }),
    close: async () => undefined,
  };
}

function readOf(stage: Stage): ReadMethod {
  return {
    schema: ANYTHING,
    target: () => SHOP,
    run: async (_connection: unknown, _args: unknown, _limits: ReadLimits): Promise<ReadOutcome> => {
      await stage.pass('read');
      const ends = stage.faults.reads.shift() ?? 'answered';
      if (ends !== 'answered') stage.struck(`read ${ends}`);
      if (ends === '500') return refused('transient', 'the shop is down');
      if (ends === '401') return refused('auth', 'the token is not valid');
      if (ends === 'slow') await stage.loop.wait(SLOW_MS);
      return { kind: 'answered', result: stage.inbox };
    },
  };
}

function mutationOf(stage: Stage, canReconcile: boolean): MutationMethod {
  return {
    schema: ARGS as unknown as z.ZodType,
    resultSchema: ANYTHING,
    preview: (_connection: unknown, args: unknown) => `for ${(args as Args).events.join(', ')}`,
    target: () => SHOP,
    run: (_connection: unknown, args: unknown, limits: MutationLimits) =>
      stage.life.during(call(stage, args as Args, limits)),
    canReconcile: () => canReconcile,
    reconcile: (_connection: unknown, recorded) => stage.life.during(lookUp(stage, recorded.idempotencyKey)),
    assumedResult: async () => null,
  };
}

async function call(stage: Stage, { events }: Args, limits: MutationLimits): Promise<Outcome> {
  await stage.pass('before the call');
  const ends = stage.faults.calls.shift() ?? 'done';
  if (ends !== 'done') stage.struck(`call ${ends}`);
  if (ends === 'unreachable') return refused('transient', 'nobody answers there');
  const leftMs = limits.deadline - stage.life.clock.now();
  if (leftMs <= 0) return refused('transient', 'its time was over before anything went out');
  limits.onFirstByte();
  const mutation = stage.sent({ events, key: limits.idempotencyKey, ends, leftMs });
  await stage.pass('after the call');
  const outcome = await answer(stage, ends, limits);
  if (mutation && outcome.kind !== 'uncertain') stage.heard(mutation);
  return outcome;
}

async function answer(stage: Stage, ends: CallEnd, limits: MutationLimits): Promise<Outcome> {
  switch (ends) {
    case 'done':
      return { kind: 'applied', result: { ref: limits.idempotencyKey.slice(0, 8) } };
    case 'timeout, done':
    case 'timeout, not done':
    case 'lands late, answer lost':
      await stage.loop.wait(limits.deadline - stage.life.clock.now());
      return { kind: 'uncertain', message: 'no answer in time', callEnded: true };
    case '500, done':
    case '500, not done':
      return { kind: 'uncertain', message: 'the shop failed', callEnded: true };
    case '429':
      return refused('transient', 'too many calls', RETRY_AFTER_MS);
    case '400':
      return refused('logic', 'this call makes no sense');
    case '401':
    case 'refused, but done':
      return refused('auth', 'the token is not valid');
    case '403':
      return refused('permission', 'the token may not do this');
    case 'late answer, done':
      await stage.loop.wait(limits.deadline + LATE_MS - stage.life.clock.now());
      return { kind: 'applied', result: null };
    case 'late answer, refused':
      await stage.loop.wait(limits.deadline + LATE_MS - stage.life.clock.now());
      return refused('transient', 'try again');
    case 'unreachable':
      return refused('transient', 'nobody answers there');
    case 'breaks down, done':
    case 'breaks down, not done':
    case 'breaks down, goes out later':
      throw new Error('the connector has a bug');
  }
}

async function lookUp(stage: Stage, key: string): Promise<Reconciled> {
  await stage.pass('before the look-up');
  const finds = stage.faults.lookUps.shift() ?? 'truth';
  if (finds !== 'truth') stage.struck(`look-up ${finds}`);
  const isThere = stage.outside.shows({ id: '' as never, idempotencyKey: key });
  await stage.pass('after the look-up');
  switch (finds) {
    case 'slow':
      await stage.loop.wait(SLOW_MS);
      break;
    case 'cannot tell':
      return { kind: 'retry', message: 'the list is not ready' };
    case 'breaks down':
      throw new Error('the connector has a bug');
    case '401':
      return { kind: 'retry', message: 'refused', error: refused('auth', 'the token is not valid').error };
    case 'truth':
  }
  return isThere ? { kind: 'applied', result: { ref: key.slice(0, 8) } } : { kind: 'failed' };
}

function refused(errorClass: CallError['class'], message: string, retryAfterMs?: number) {
  return { kind: 'not_done', error: { class: errorClass, message, retryAfterMs } } as const;
}
