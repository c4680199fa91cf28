import type { WorkflowId } from '#base';
import type { Slot } from '#connector';
import type { ModelSteps } from '#execution';
import { PERMITS_FRESH_MS, type Permits, type SeenVersion, type Sent } from '#ledger';
import type { Call, ConsumerSpec, Fence } from '#model';
import type { SandboxOutcome, SandboxRequest } from '#sandbox';
import { argsOf, stateOf } from './args-of.ts';
import { callOf } from './call-of.ts';
import { requestOf } from './cancel.ts';
import type { DrivenRun, HandlerHost } from './handler-host.ts';
import type { Moved } from './moved.ts';
import type { Given } from './next-end.ts';
import type { Foreseen, Page, SeenEvent, Whose } from './peek-habits.ts';
import { parsePrepared } from './prepared-result.ts';
import { type Done, reserve } from './reserve.ts';
import { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';
import { within } from './within.ts';

// A run that most likely comes next is prepared before it is there: behind the `next` of the run before it, in the same breath, or
// before its session has begun. Then the end of the one run and the recorded call of the other are one commit. `prepare` only
// reads, so nothing is lost where another run comes or where what was prepared no longer fits: it is forgotten, and the run that
// does come is prepared like any other.

/** How long anybody waits for what is prepared ahead, or for `next`, so that more shares a commit. Less than a commit takes when many wait. */
export const TOGETHER_MS = 25;
/** A script that computes for longer would most likely come too late, and be run twice for each run. */
export const AHEAD_CPU_MS_MAX = TOGETHER_MS / 2;

/** What a run would look at, and what it may do. */
export interface Outlook {
  readonly foreseen: Foreseen;
  readonly permits: Permits;
  readonly version: SeenVersion | undefined;
  readonly readAt: number;
}

/** What of it need not be read: an event that arrives and is all that waits; or what waits, right behind a commit of this process. */
export interface AtHand {
  readonly arriving?: SeenEvent | undefined;
  readonly isBehindCommit?: boolean;
}

/** Undefined where nothing waits for such a run, or its script asks for more than can be foreseen. */
export async function lookAhead(host: HandlerHost, whose: Whose, atHand: AtHand = {}): Promise<Outlook | undefined> {
  const { workflowId } = whose;
  const { arriving } = atHand;
  const page = host.togetherMs === 0 ? undefined : host.peeks.allOf(whose);
  if (!page) return undefined;
  if (arriving !== undefined && arriving.topic !== page.topic) return undefined;
  const readAt = performance.now();
  const [events, permits, version] = await Promise.all([
    arriving ? [arriving] : waitingIn(host, workflowId, page, atHand),
    host.ledger.permitsOf(workflowId),
    host.ledger.usualVersion(workflowId),
  ]);
  return events.length === 0 ? undefined : { foreseen: { ...page, events }, permits, version, readAt };
}

/**
 * The commit compares each event with what is there by then, but not whether an older one has come to wait, from another process, in between. Right behind a
 * commit what this process remembers is as new as what it would read; later it is not.
 */
function waitingIn(
  { engine }: HandlerHost,
  workflow: WorkflowId,
  { topic, limit }: Page,
  { isBehindCommit = false }: AtHand,
): readonly SeenEvent[] | Promise<readonly SeenEvent[]> {
  const remembered = isBehindCommit ? engine.waiting?.(workflow, topic, limit) : undefined;
  return remembered ?? engine.reader.listEvents(workflow, { status: 'pending', topic, limit });
}

/** A run that may come, and how its `prepare` is asked for. */
export interface Expected {
  readonly run: DrivenRun;
  readonly script: LoadedScript;
  readonly spec: ConsumerSpec;
  readonly calls: RunCalls;
  readonly outlook: Outlook;
  readonly request: SandboxRequest;
}

/** Another run of the same consumer; behind a `next` that gives no state it has the same as the run before. */
export async function expectAfter(
  host: HandlerHost,
  before: DrivenRun,
  state: string | null,
  looking: Promise<Outlook | undefined>,
  signal: AbortSignal,
): Promise<Expected | undefined> {
  const seen = await looking;
  // What was read before a slow provider took its time is read again.
  const isFresh = seen !== undefined && performance.now() - seen.readAt < PERMITS_FRESH_MS;
  const outlook = seen === undefined || isFresh ? seen : await lookAhead(host, before);
  return outlook && expect(host, before, state, outlook, signal);
}

async function expect(
  host: HandlerHost,
  { workflowId, scriptId, handlerName }: Whose,
  state: string | null,
  outlook: Outlook,
  signal?: AbortSignal,
): Promise<Expected | undefined> {
  const script = await host.scripts.get(scriptId);
  const spec = script.handlers.consumers.find((consumer) => consumer.name === handlerName);
  if (spec === undefined) return undefined;
  const id = host.engine.ids.next('run');
  const run: DrivenRun = {
    ...{ id, rootRunId: id, workflowId, scriptId, handlerName },
    ...{ phase: 'preparing', prepareResult: null, startTimestamp: host.clock.now() },
  };
  const calls = new RunCalls(run, spec.subscribe, { ...host, foreseen: outlook.foreseen }, true);
  const foreseen = calls.foreseenPeek();
  if (foreseen === undefined) return undefined;
  const phase = { phase: 'prepare', args: argsOf(state), andMutate: spec.hasMutate, foreseen } as const;
  return { run, script, spec, calls, outlook, request: requestOf(signal, { run, script, calls, ...phase }) };
}

/** A run that is prepared up to its call, and has a place for it. */
export interface Ahead {
  readonly run: DrivenRun;
  readonly state: string | null;
  readonly done: Done;
  readonly call: Call;
  readonly slot: Slot;
  readonly outlook: Outlook;
}

/** What came of it behind a `next`. */
export async function preparedAfter(
  host: HandlerHost,
  expected: Expected,
  next: Given,
  stateBefore: string | null,
): Promise<Ahead | undefined> {
  const outcome = await next.following;
  const sees = seesAll(expected, next);
  return noted(host, expected, sees ? await callAhead(host, expected, next.state ?? stateBefore, outcome) : undefined);
}

/** What the run before publishes to the same consumer would be seen behind what was seen; on a full page not at all. */
function seesAll({ outlook, spec }: Expected, { calls }: Given): boolean {
  const { events, limit } = outlook.foreseen;
  return events.length === limit || !calls?.publishes.some(({ topic }) => spec.subscribe.includes(topic));
}

/** The first run of a session, before there is one; or the next, of an event that arrives. */
export async function prepareFirst(
  host: HandlerHost,
  workflow: WorkflowId,
  arriving?: SeenEvent,
): Promise<Ahead | undefined> {
  const whose = host.peeks.lastAll(workflow);
  if (whose === undefined) return undefined;
  let isOver = false;
  const prepared = firstOf(host, whose, arriving).then((ahead) => {
    if (isOver) ahead?.slot.giveBack();
    return ahead;
  });
  // What goes wrong here goes wrong for nobody: the run itself will find out.
  const ahead = await within(
    host.togetherMs ?? TOGETHER_MS,
    prepared.catch(() => undefined),
  );
  isOver = true;
  return ahead;
}

async function firstOf(host: HandlerHost, whose: Whose, arriving?: SeenEvent): Promise<Ahead | undefined> {
  const [outlook, states] = await Promise.all([
    lookAhead(host, whose, { arriving }),
    host.engine.reader.fetch('handlerStates', whose.workflowId),
  ]);
  const state = stateOf({ states }, whose);
  const expected = outlook && (await expect(host, whose, state, outlook));
  return (
    expected && noted(host, expected, await callAhead(host, expected, state, await host.sandbox.run(expected.request)))
  );
}

/** A script that made no call of what it was shown is not run ahead again before it has, in its own time. */
function noted(host: HandlerHost, { run }: Expected, ahead: Ahead | undefined): Ahead | undefined {
  host.peeks.wasAll(run, ahead !== undefined);
  return ahead;
}

/** Undefined where its script did not make a call of what it was shown, or it cannot go out at once: then the run is to find out why. */
async function callAhead(
  host: HandlerHost,
  { run, script, spec, calls, outlook }: Expected,
  state: string | null,
  outcome: SandboxOutcome | undefined,
): Promise<Ahead | undefined> {
  if (outcome?.kind !== 'returned') return undefined;
  const prepared = parsePrepared(outcome.result);
  const asked = outcome.mutate?.call;
  // A run that takes nothing rests until something comes that is newer than its start: what it saw would have to be as new as that.
  if ('problem' in prepared || prepared.reservations.length === 0 || asked === undefined) return undefined;
  const call = await callOf({ ...host, permits: outlook.permits }, run, asked, prepared.title);
  if ('problem' in call || call.needsApproval) return undefined;
  await host.ledger.ready(call.connection, call.method);
  const slot = host.ledger.admitNow(call.connection);
  const done = { script, spec, calls, prepared };
  return slot && { run: { ...run, prepareResult: prepared.json ?? null }, state, done, call, slot, outlook };
}

/** A run that began with its call recorded. */
export interface SentAhead extends Ahead {
  readonly sent: Sent;
}

/** Its event was not there yet, and nothing else waited. */
export function isOfArrival({ foreseen }: Outlook): boolean {
  return foreseen.events.some(({ pendingSeq }) => pendingSeq === undefined);
}

/** What a session is told each time it goes on: whether it may wait for more, and how long it may take in all. */
export interface HowLong {
  readonly stays?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The next run of the session; if it is the one that was expected, with everything it has done. What no longer fits is refused. */
export function beginAhead(model: ModelSteps, fence: Fence, ahead: Ahead, how: HowLong): Moved {
  const { run, state, call, outlook } = ahead;
  const { id, startTimestamp, scriptId, handlerName } = run;
  const newIn = isOfArrival(outlook) ? outlook.foreseen.topic : undefined;
  const expected = { run: id, startedAt: startTimestamp, script: scriptId, handler: handlerName, state, newIn };
  const moved = model.advanceSession(fence, { ...how, expected });
  // Asked this way round because a store that foresees what will be read goes through this with empty replies.
  if ('ended' in moved || 'waits' in moved || moved.isOther) return moved;
  reserve(model, fence, run, ahead.done, 'mutating', false);
  const sent = model.startMutation(fence, id, call);
  // Somebody asked the workflow to stand still.
  if ('status' in sent) return { ended: 'cancelled' };
  return { run: id, sent: { ...ahead, run: { ...run, phase: 'mutating' }, sent } };
}
