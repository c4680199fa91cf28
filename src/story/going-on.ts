import type { NextStep } from '#base';
import type { Execution, HandlerState, Run, Script, Workflow } from '#model';
import { goBack } from './obstacles.ts';
import { pendingOf } from './pending.ts';
import { silenceOf } from './silence.ts';
import type { Condition } from './standing.ts';
import { poolNamed, stepsToTake, whyUntaken } from './takers.ts';
import type { Teller } from './teller.ts';
import { activatedAt } from './versions.ts';
import { callName, clockTime, count, duration, limitWords, oneLine } from './words.ts';

/** From then on it is news that a service does not answer. */
const NOTICE_MS = 3_600_000;
/** A new version that does the wrong thing is noticed within a day. */
const FRESH_MS = 24 * 3_600_000;
/** Who hears of a handoff takes it at once, and who missed the call looks within seconds. */
const TAKEN_MS = 10_000;
const PENDING_MAX = 100_000;

/** What a workflow does that nothing keeps from going on. */
export async function goesOn(teller: Teller, workflow: Workflow): Promise<Condition> {
  const stage = notLive(workflow);
  if (stage) return stage;
  const { history } = teller;
  const open = await history.fetch('openExecutions', workflow.id);
  // A request beside one that is under way waits for its end.
  const [execution] = [...open.filter(({ status }) => status !== 'requested'), ...open];
  const begun = execution && (await underWay(teller, workflow, execution));
  if (begun) return begun;
  const [script] = workflow.activeScriptId === null ? [] : await history.fetch('script', workflow.activeScriptId);
  const handlers = script ? [...script.handlers.producers, ...script.handlers.consumers].map(({ name }) => name) : [];
  const states = (await history.fetch('handlerStates', workflow.id)).filter((state) =>
    handlers.includes(state.handlerName),
  );
  const late = states
    .filter((state) => (state.backoffUntil ?? 0) > teller.now)
    .sort((a, b) => (a.backoffUntil ?? 0) - (b.backoffUntil ?? 0))[0];
  if (late) return retrying(teller, workflow, late);
  return resting(teller, workflow, script, states);
}

function notLive({ id, name, status, createdAt }: Workflow): Condition | undefined {
  const plain = { id, since: createdAt, evidence: [], waitsForPerson: false, blocks: false };
  switch (status) {
    case 'draft':
      return {
        ...plain,
        kind: 'draft',
        sentence: 'has no version yet',
        next: [{ label: 'deploy one (pawl deploy FILE)' }],
      };
    case 'ready':
      return {
        ...plain,
        kind: 'ready',
        sentence: 'has a version that is not active',
        next: [{ label: 'see its versions', argv: ['pawl', 'versions', name] }],
      };
    case 'archived':
      return { ...plain, kind: 'archived', sentence: 'archived', next: [] };
    case 'active':
    case 'paused':
    case 'error':
      return undefined;
  }
}

async function underWay(teller: Teller, workflow: Workflow, execution: Execution): Promise<Condition | undefined> {
  switch (execution.status) {
    case 'requested':
      if (execution.waitsFor !== null) return waitsForRoom(teller, execution, execution.waitsFor);
      return aboutToRun(teller, workflow, execution);
    case 'scheduling':
      return aboutToRun(teller, workflow, execution);
    case 'scheduled':
      return withCancel(execution, await handedOff(teller, workflow, execution));
    case 'running':
      return withCancel(execution, await running(teller, workflow, execution));
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'timeout':
    case 'abandoned':
      return undefined;
  }
}

const PHASE_WORDS: Readonly<Record<Run['phase'], string>> = {
  executing: '',
  preparing: ', choosing its events',
  prepared: ', about to make its call',
  mutating: ', waiting for its call to be answered',
  mutated: ', its call is done',
  emitting: ', finishing',
  committed: '',
};

async function running(teller: Teller, workflow: Workflow, execution: Execution): Promise<Condition> {
  const { history, now } = teller;
  const [run] = await history.fetch('activeRun', workflow.id);
  const since = run?.startTimestamp ?? execution.startedAt ?? execution.requestedAt;
  const pending = await pendingOf(teller, workflow, PENDING_MAX);
  const rest = pending === 0 ? '' : `; ${count(pending, 'event')} to go`;
  const silence = await silenceOf(teller, workflow, execution, run);
  const late = silence?.isOver ? '' : lateWords(teller, workflow, execution, run);
  const cancel: NextStep = { label: 'stop it at the next safe point', argv: ['pawl', 'cancel', workflow.name] };
  return {
    kind: silence?.isOver ? 'worker' : 'running',
    id: run?.id ?? execution.id,
    sentence: `running${run ? await runWords(teller, run) : ', choosing what to do next'} (for ${duration(now - since)})${rest}${late}${silence ? `; ${silence.words}` : ''}`,
    since,
    evidence: [],
    next: [
      ...(silence?.next ?? []),
      { label: 'watch what it does', argv: ['pawl', 'outputs', workflow.name] },
      ...(execution.cancelRequestedAt === null ? [cancel] : []),
      ...(await backFromFresh(teller, workflow)),
    ],
    waitsForPerson: false,
    blocks: false,
  };
}

/** Whoever runs it ends it at the next commit; it is not stopped in the middle of a run that goes on. */
function lateWords({ now, takers }: Teller, { name }: Workflow, execution: Execution, run: Run | undefined): string {
  const timeoutMs = takers?.timeoutMsOf(name);
  if (timeoutMs === undefined || execution.startedAt === null || execution.cancelRequestedAt !== null) return '';
  if (now - execution.startedAt < timeoutMs) return '';
  return `; past its limit of ${duration(timeoutMs)}, ends ${run ? 'with this run' : 'now'}`;
}

async function runWords({ history }: Teller, run: Run): Promise<string> {
  const [call] = run.phase === 'mutating' ? await history.fetch('ledger', run.rootRunId) : [];
  return ` ${run.handlerName}${call ? `, waiting for one ${callName(call)} to be answered` : PHASE_WORDS[run.phase]}`;
}

/** After the handoff whoever has it ends it, when its call is answered. */
function withCancel({ cancelRequestedAt, cancelRequestedBy }: Execution, condition: Condition): Condition {
  if (cancelRequestedAt === null) return condition;
  const sentence = `being cancelled (asked by ${cancelRequestedBy}): ${condition.sentence}`;
  return { ...condition, kind: 'cancelling', sentence, since: cancelRequestedAt };
}

/** What a person stops, or what its worker left, while something else keeps the workflow from going on. */
export async function isEnding(teller: Teller, workflow: Workflow): Promise<Condition[]> {
  const open = await teller.history.fetch('openExecutions', workflow.id);
  const cancelled = open.find(({ cancelRequestedAt }) => cancelRequestedAt !== null);
  const execution = cancelled ?? (await leftBehind(teller, workflow, open));
  const condition = execution && (await underWay(teller, workflow, execution));
  return condition ? [condition] : [];
}

async function leftBehind(
  teller: Teller,
  workflow: Workflow,
  open: readonly Execution[],
): Promise<Execution | undefined> {
  const execution = open.find(({ status }) => status === 'running');
  return execution && (await silenceOf(teller, workflow, execution, undefined)) ? execution : undefined;
}

const CALM = { evidence: [], next: [], waitsForPerson: false, blocks: false };

async function aboutToRun(
  teller: Teller,
  workflow: Workflow,
  { id, requestedAt }: Execution,
  sentence = 'about to run',
): Promise<Condition> {
  return { ...CALM, kind: 'due', id, sentence, since: requestedAt, next: await backFromFresh(teller, workflow) };
}

/** It is for a worker, and there is nothing to trigger until one has taken it. */
async function handedOff(teller: Teller, workflow: Workflow, execution: Execution): Promise<Condition> {
  const { now, takers } = teller;
  if (!takers) return aboutToRun(teller, workflow, execution);
  const { id, requestedAt } = execution;
  const pool = poolNamed(takers.poolOf(workflow.name), await takers.living(), workflow.name);
  if (pool.open.length > 0 && now - requestedAt < TAKEN_MS) {
    return aboutToRun(teller, workflow, execution, `about to be taken by a worker of pool ${pool.name}`);
  }
  const sentence = `waiting for a worker of pool ${pool.name} (for ${duration(now - requestedAt)}): ${whyUntaken(pool)}`;
  return { ...CALM, kind: 'worker', id, sentence, since: requestedAt, next: stepsToTake(pool) };
}

async function retrying({ history, now }: Teller, workflow: Workflow, state: HandlerState): Promise<Condition> {
  const until = state.backoffUntil ?? now;
  const since = state.transientSince ?? now;
  const [run] = await history.runs(workflow.id, { status: 'paused:transient', handler: state.handlerName, limit: 1 });
  const [call] = run ? await history.fetch('ledger', run.rootRunId) : [];
  const what = call ? `for ${call.connection} to answer again` : `to try ${state.handlerName} again`;
  const notice = now - since >= NOTICE_MS ? `, not working for ${duration(now - since)}` : '';
  return {
    kind: 'retrying',
    id: run?.id ?? workflow.id,
    sentence: `waiting until ${clockTime(until, now)} ${what} (${count(state.transientCount, 'try', 'tries')}${notice}: ${oneLine(run?.error ?? 'no answer')})`,
    since,
    evidence: run?.error ? [oneLine(run.error)] : [],
    next: [
      { label: 'try now', argv: ['pawl', 'trigger', workflow.name] },
      ...(run ? [{ label: 'see what happened', argv: ['pawl', 'explain', run.id] }] : []),
    ],
    waitsForPerson: false,
    blocks: true,
  };
}

/** Nothing is wrong: as many are under way as the config allows at once. */
async function waitsForRoom({ history, now }: Teller, execution: Execution, limitName: string): Promise<Condition> {
  const { id, requestedAt } = execution;
  const [limit] = await history.fetch('limit', limitName);
  const taken = await history.fetch('slotsOf', limitName);
  const words = limitWords(limitName, taken.length, limit?.slotsMax ?? null);
  return {
    kind: 'limited',
    id,
    sentence: `waiting for room: ${words} (for ${duration(now - requestedAt)})`,
    since: requestedAt,
    evidence: [],
    next: [
      { label: 'see who is at work', argv: ['pawl', 'workers'] },
      { label: 'raise fleet.limits in the config, and start the executors anew' },
    ],
    waitsForPerson: false,
    blocks: false,
  };
}

async function resting(
  teller: Teller,
  workflow: Workflow,
  script: Script | undefined,
  states: readonly HandlerState[],
): Promise<Condition> {
  const { history, now } = teller;
  const { id } = workflow;
  const run: NextStep = { label: 'run it now', argv: ['pawl', 'trigger', workflow.name] };
  if (workflow.quiet) {
    const since = await history.cancelledAt(id);
    const sentence = 'cancelled, waiting for the next trigger';
    return { ...CALM, kind: 'quiet', id, sentence, since, blocks: true, next: [run] };
  }
  const [session] = await history.sessions(id, { limit: 1 });
  const plain = { ...CALM, id, since: session?.endTimestamp ?? workflow.createdAt };
  if (workflow.dueAt !== null && workflow.dueAt <= now) {
    return { ...plain, kind: 'due', sentence: 'about to run', next: await backFromFresh(teller, workflow) };
  }
  const pending = await pendingOf(teller, workflow, PENDING_MAX);
  const left =
    pending === 0 ? '' : `; ${count(pending, 'event')} left by ${pending === 1 ? 'its' : 'their'} consumer for later`;
  return {
    ...plain,
    kind: 'idle',
    sentence: `idle, ${whatIsNext(script, states, now)}${left}`,
    next: [run, ...(await backFromFresh(teller, workflow))],
  };
}

function whatIsNext(script: Script | undefined, states: readonly HandlerState[], now: number): string {
  const times = states
    .flatMap(({ handlerName, nextAt, wakeAt }) =>
      [nextAt, wakeAt].flatMap((at) => (at === null ? [] : [{ handlerName, at }])),
    )
    .sort((a, b) => a.at - b.at);
  const [next] = times;
  if (next) return `next ${next.handlerName} in ${duration(next.at - now)}`;
  const hasHook = script?.handlers.producers.some((producer) => producer.webhook) ?? false;
  return hasHook ? 'waiting for a delivery' : 'waiting for events';
}

/** A version that is new may be the wrong one: how to go back is said before anyone has to look for it. */
async function backFromFresh(teller: Teller, workflow: Workflow): Promise<NextStep[]> {
  const { history, now } = teller;
  const [active] = workflow.activeScriptId === null ? [] : await history.fetch('script', workflow.activeScriptId);
  const at = active && (await activatedAt(teller, active));
  return at !== undefined && now - at < FRESH_MS ? await goBack(teller, workflow) : [];
}
