import type { EventId, RunId } from '#base';
import type { Call, CommandOf, ConsumerPhase, Fence, HandedOut, Mutation, Run, StopOptions, StopStatus } from '#model';
import { CONSUMER_PHASE_STEPS, STOP_STATUSES } from '#model';
import { PERSON } from '../support/fixture.ts';
import type { View } from './view.ts';

/** Commands a worker gives for an execution it holds, or only believes it holds. */

const WRONG_RUNS = ['run_none', '', 'evt_000001'] as readonly string[] as readonly RunId[];

function wrongRun(view: View): RunId {
  const wrong = [view.foreign.run.id, ...WRONG_RUNS, ...view.runs.slice(-3).map((run) => run.id)];
  const chosen = wrong[view.ordinal % wrong.length] ?? view.foreign.run.id;
  return chosen === view.active?.id ? view.foreign.run.id : chosen;
}

/** With the right fence on the right run and on a wrong one; and, rotating, the right run with a wrong fence. */
function onRun<C>(view: View, make: (fence: Fence, run: RunId) => C): C[] {
  const run = view.active?.id ?? wrongRun(view);
  const moves = [make(view.wrongFence, run)];
  if (view.fence) moves.push(make(view.fence, wrongRun(view)));
  if (view.fence && view.active) moves.push(make(view.fence, view.active.id));
  return moves;
}

/** Every handler of the version, and one that is not in it. */
export function startRun(view: View): CommandOf<'startRun'>[] {
  const { producers, consumers } = view.script.handlers;
  const moves: CommandOf<'startRun'>[] = [{ do: 'startRun', fence: view.wrongFence, handler: 'book' }];
  const { fence } = view;
  if (!fence) return moves;
  for (const { name } of [...producers, ...consumers, { name: 'nobody' }])
    moves.push({ do: 'startRun', fence, handler: name });
  for (const delivery of view.rows.deliveries.values()) {
    moves.push({ do: 'startRun', fence, handler: 'hook', delivery: delivery.id });
    moves.push({ do: 'startRun', fence, handler: 'poll', delivery: delivery.id });
  }
  return moves;
}

export function advanceSession(view: View): CommandOf<'advanceSession'>[] {
  return fences(view).flatMap((fence) => [false, true].map((stays) => ({ do: 'advanceSession', fence, stays })));
}

export function finishSession(view: View): CommandOf<'finishSession'>[] {
  return fences(view).map((fence) => ({ do: 'finishSession', fence }));
}

function fences(view: View): Fence[] {
  return view.fence ? [view.wrongFence, view.fence] : [view.wrongFence];
}

/** Every run of home: only the pending retry and set-aside ones past their boundary may be retried. */
export function createRetryRun(view: View): CommandOf<'createRetryRun'>[] {
  const moves: CommandOf<'createRetryRun'>[] = [
    { do: 'createRetryRun', fence: view.wrongFence, run: view.runs.at(-1)?.id ?? wrongRun(view) },
  ];
  const { fence } = view;
  if (!fence) return moves;
  for (const run of [...view.lastRuns, view.foreign.run]) moves.push({ do: 'createRetryRun', fence, run: run.id });
  return moves;
}

export function updateConsumerPhase(view: View): CommandOf<'updateConsumerPhase'>[] {
  const moves = onRun<CommandOf<'updateConsumerPhase'>>(view, (fence, run) => ({
    do: 'updateConsumerPhase',
    fence,
    run,
    phase: 'emitting',
  }));
  const { fence, active } = view;
  if (!fence || !active) return moves;
  for (const phase of Object.keys(CONSUMER_PHASE_STEPS) as ConsumerPhase[]) {
    if (phase === 'prepared') moves.push(...prepared(view, fence, active));
    else if (phase !== 'emitting') moves.push({ do: 'updateConsumerPhase', fence, run: active.id, phase });
  }
  return moves;
}

/** Takes the first, takes all, takes none; takes what has changed, what is not pending, what never was, what is not its own. */
function prepared(view: View, fence: Fence, run: Run): CommandOf<'updateConsumerPhase'>[] {
  const topic = run.handlerName === 'ship' ? 'booked' : 'placed';
  const own = view.pending.filter((event) => event.topic === topic);
  const gone = view.events.find((event) => event.topic === topic && event.status !== 'pending');
  const handedOut = own.map(({ id: event, pendingSeq }): HandedOut => ({ event, pendingSeq }));
  const move = (ids: readonly string[], more: Partial<CommandOf<'updateConsumerPhase'>> = {}) => ({
    do: 'updateConsumerPhase' as const,
    fence,
    run: run.id,
    phase: 'prepared' as const,
    reservations: [{ topic, ids }],
    prepareResult: '{}',
    handedOut,
    ...more,
  });
  const moves: CommandOf<'updateConsumerPhase'>[] = [
    move([], { reservations: [], prepareResult: undefined }),
    move([], { wakeAt: view.now + 60_000 }),
    move(['never'], { orStop: true }),
    move([], { reservations: [{ topic: 'elsewhere', ids: ['1'] }] }),
  ];
  const [first] = own;
  if (first) {
    const stale = handedOut.map((handed) => ({ ...handed, pendingSeq: (handed.pendingSeq ?? 0) - 1 }));
    moves.push(move([first.messageId]), move([first.messageId], { handedOut: stale, orStop: true }));
    if (view.ordinal % 4 === 0) moves.push(move([first.messageId, first.messageId]));
  }
  if (own.length > 1) moves.push(move(own.map((event) => event.messageId)));
  if (gone) moves.push(move([gone.messageId], { handedOut: [{ event: gone.id, pendingSeq: 0 }], orStop: true }));
  return moves;
}

export function startMutation(view: View): CommandOf<'startMutation'>[] {
  const [call] = view.world.calls as readonly [Call];
  const moves = onRun<CommandOf<'startMutation'>>(view, (fence, run) => ({ do: 'startMutation', fence, run, call }));
  const { fence, active } = view;
  if (!fence || !active) return moves;
  for (const other of view.world.calls.slice(1))
    moves.push({ do: 'startMutation', fence, run: active.id, call: other });
  moves.push({ do: 'startMutation', fence, run: active.id, call: { ...call, timeoutMs: 0 } });
  return moves;
}

/** Why a run may stop, as its worker sees it. While a call is in flight, knowing that it is over and not knowing. */
export function updateHandlerRunStatus(view: View): CommandOf<'updateHandlerRunStatus'>[] {
  const moves = onRun<CommandOf<'updateHandlerRunStatus'>>(view, (fence, run) => ({
    do: 'updateHandlerRunStatus',
    fence,
    run,
    status: 'crashed',
    error: 'crashed',
  }));
  const { fence, active } = view;
  if (!fence || !active) return moves;
  const suspects = suspectsOf(view, active);
  for (const status of statusesFor(view)) {
    for (const options of stopOptions(view, status)) {
      const common = {
        do: 'updateHandlerRunStatus',
        fence,
        run: active.id,
        status,
        error: status,
        ...options,
      } as const;
      moves.push({ ...common, suspects });
      if (view.ledger?.status === 'in_flight') moves.push({ ...common, callEnded: true });
    }
  }
  return moves;
}

/** While a call is in flight every stop is the same but for a word: then two of them, in turn. */
function statusesFor(view: View): StopStatus[] {
  const all = STOP_STATUSES as StopStatus[];
  if (view.ledger?.status !== 'in_flight') return all;
  return all.filter((status, i) => status === 'crashed' || i % 4 === view.ordinal % 4);
}

function stopOptions(view: View, status: StopStatus): Partial<StopOptions>[] {
  if (status === 'cancelled') return [{}, { timeout: true }];
  if (status !== 'paused:approval') return [{}];
  return [{}, { cause: { kind: 'permission' } }, ...authCauses(view)];
}

/** Credentials refused as they are now, and as they were before the last cure. */
function authCauses(view: View): Partial<StopOptions>[] {
  const version = view.rows.connections.get('shop')?.version ?? 0;
  return [version, version - 1].map((of) => ({ cause: { kind: 'auth', connection: 'shop', version: of } }));
}

/** What `peek` handed out: all that is pending, and what the run has reserved. */
function suspectsOf(view: View, run: Run): EventId[] {
  return view.events
    .filter((event) => event.status === 'pending' || event.reservedByRunId === run.id)
    .map((event) => event.id);
}

export function commitConsumer(view: View): CommandOf<'commitConsumer'>[] {
  const moves = onRun<CommandOf<'commitConsumer'>>(view, (fence, run) => ({ do: 'commitConsumer', fence, run }));
  const { fence, active } = view;
  if (!fence || !active) return moves;
  const publishes = [{ topic: 'booked', payload: '{}' }];
  if (view.events.length < view.world.limits.events)
    moves.push({ do: 'commitConsumer', fence, run: active.id, publishes });
  moves.push({ do: 'commitConsumer', fence, run: active.id, publishes: [{ topic: 'elsewhere', payload: '{}' }] });
  return moves;
}

export function commitProducer(view: View): CommandOf<'commitProducer'>[] {
  const moves = onRun<CommandOf<'commitProducer'>>(view, (fence, run) => ({ do: 'commitProducer', fence, run }));
  const { fence, active } = view;
  if (!fence || !active) return moves;
  const nextAt = view.now + 60_000;
  const publishes = [{ topic: 'placed', messageId: 'polled', payload: '{}', input: 0 }];
  const inputs = [{ source: 'shop', type: 'order', id: '1', title: 'Order 1' }];
  moves.push({ do: 'commitProducer', fence, run: active.id, nextAt });
  if (view.events.length < view.world.limits.events)
    moves.push({ do: 'commitProducer', fence, run: active.id, inputs, publishes });
  return moves;
}

export function keepRecords(view: View): CommandOf<'keepRecords'>[] {
  const read = { at: view.now, connection: 'shop', method: 'get', request: '{}', answer: '{}' };
  return onRun(view, (fence, run) => {
    // It says one thing after the other.
    const position = view.rows.runLogs.matching(({ runId }) => runId === run).length;
    const logs = [{ position, at: view.now, message: 'hello', data: null }];
    return { do: 'keepRecords', fence, run, logs, reads: [{ position, ...read }] };
  });
}

/** The truth is told, except where a world lets people be wrong about what did not happen. */
export function updateMutationResult(view: View): CommandOf<'updateMutationResult'>[] {
  const moves: CommandOf<'updateMutationResult'>[] = [
    { do: 'updateMutationResult', mutation: 'mut_none' as Mutation['id'], outcome: 'success', answer: PROVIDER },
  ];
  const foreign = view.ordinal % 4 === 0 ? [view.foreign.mutation] : [];
  for (const { id: mutation } of [...view.calls, ...foreign]) {
    if (view.ordinal % 4 === 1)
      moves.push({ do: 'updateMutationResult', mutation, outcome: 'skipped', answer: RECONCILE });
    moves.push(...lookUps(view, mutation));
    if (!view.state.truth.landed.has(mutation)) moves.push(...denials(view, mutation));
    else moves.push(...affirmations(view, mutation));
    if (view.world.lies && view.state.truth.landed.has(mutation))
      moves.push({ do: 'updateMutationResult', mutation, outcome: 'failure', answer: DENIES });
  }
  return moves;
}

/** What a look-up saw when it began, which need not be what it would see now. */
function lookUps(view: View, mutation: Mutation['id']): CommandOf<'updateMutationResult'>[] {
  const { looks, landed } = view.state.truth;
  const seen = view.world.slowLooks ? looks[mutation] : { at: view.now, sawEffect: landed.has(mutation) };
  if (!seen) return [];
  const answer = { ...RECONCILE, askedAt: seen.at };
  return [{ do: 'updateMutationResult', mutation, outcome: seen.sawEffect ? 'success' : 'failure', answer }];
}

const PROVIDER = { resolvedBy: 'provider' } as const;
const RECONCILE = { resolvedBy: 'reconcile' } as const;
const ASSERTS = { resolvedBy: 'user_assert_applied', by: PERSON } as const;
const DENIES = { resolvedBy: 'user_assert_failed', by: PERSON } as const;
const ERROR_CLASSES = ['transient', 'auth', 'permission', 'logic', 'internal'] as const;

function affirmations(view: View, mutation: Mutation['id']): CommandOf<'updateMutationResult'>[] {
  const moves: CommandOf<'updateMutationResult'>[] = [
    { do: 'updateMutationResult', mutation, outcome: 'success', answer: PROVIDER, fence: view.wrongFence },
    { do: 'updateMutationResult', mutation, outcome: 'success', answer: PROVIDER },
    { do: 'updateMutationResult', mutation, outcome: 'success', answer: ASSERTS, result: '{}' },
  ];
  const { fence } = view;
  if (!fence) return moves;
  for (const answer of [PROVIDER, RECONCILE, ASSERTS])
    moves.push({ do: 'updateMutationResult', mutation, outcome: 'success', answer, fence });
  return moves;
}

function denials(view: View, mutation: Mutation['id']): CommandOf<'updateMutationResult'>[] {
  const moves: CommandOf<'updateMutationResult'>[] = [
    { do: 'updateMutationResult', mutation, outcome: 'failure', answer: PROVIDER, fence: view.wrongFence },
    { do: 'updateMutationResult', mutation, outcome: 'failure', answer: PROVIDER },
    { do: 'updateMutationResult', mutation, outcome: 'failure', answer: DENIES },
    { do: 'updateMutationResult', mutation, outcome: 'failure', answer: ASSERTS },
  ];
  const { fence } = view;
  if (!fence) return moves;
  moves.push({ do: 'updateMutationResult', mutation, outcome: 'failure', answer: RECONCILE, fence });
  moves.push({ do: 'updateMutationResult', mutation, outcome: 'failure', answer: DENIES, fence, error: '' });
  for (const errorClass of ERROR_CLASSES) {
    const stop = { suspects: view.pending.map((event) => event.id), ...causeOf(view, errorClass) };
    moves.push({ do: 'updateMutationResult', mutation, outcome: 'failure', answer: PROVIDER, errorClass, stop, fence });
  }
  return moves;
}

function causeOf(view: View, errorClass: (typeof ERROR_CLASSES)[number]): Partial<StopOptions> {
  if (errorClass === 'auth') return authCauses(view)[0] ?? {};
  return errorClass === 'permission' ? { cause: { kind: 'permission' } } : {};
}
