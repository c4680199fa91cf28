import type { EventId, WorkflowId } from '#base';
import { type Handlers, INVARIANTS, type Mutation } from '#model';
import type { SandboxPool } from '#sandbox';
import { CapturedConnections, type CapturedOptions } from './captured-connections.ts';
import { Life, RehearsalClock } from './life.ts';
import type { Moment, PlaceName } from './moments.ts';

/** What the engine did after a death. */
export type Did =
  | 'went on'
  | 'ran again'
  | 'tried again'
  | 'asked the service: done'
  | 'asked the service: not done'
  | 'asked the service, then you: done'
  | 'asked the service, then you: not done'
  | 'asked you: done'
  | 'asked you: not done'
  | 'went on at next'
  | 'waited for approval';

/** One crash, and what came of it. */
export interface CrashPoint {
  readonly place: PlaceName;
  readonly handler: string | null;
  /** A consumer without `next` goes straight on to its commit. */
  readonly hasNext: boolean;
  /** Of the call, where there is one. */
  readonly title: string | null;
  readonly connection: string | null;
  readonly did: Did;
  /** What is not as it would be without the crash; nothing, when the promise was kept. */
  readonly problems: readonly string[];
}

/** What a life came to, to be compared with another. */
export interface Ending {
  /** Events by topic and status: `placed consumed` → 3. */
  readonly events: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

export interface CrashOptions {
  readonly workflow: WorkflowId;
  readonly handlers: Handlers;
  readonly moment: Moment;
  readonly captured: Omit<CapturedOptions, 'calls' | 'onCall'>;
  readonly sandbox: SandboxPool;
  /** What the same came to without a crash. */
  readonly expected: Ending;
}

/** How long nobody is there: a script that looks at the clock sees it. */
const RESTART_MS = 60_000;

/** Recovers the files of a death with the real engine, and lets it go on to the end. */
export async function crashAt(options: CrashOptions): Promise<CrashPoint> {
  const { moment, workflow, handlers, captured, sandbox, expected } = options;
  const { place } = moment;
  const calls = [...moment.calls];
  const connections = new CapturedConnections({ ...captured, calls });
  const clock = new RehearsalClock(moment.now + RESTART_MS);
  const life = await Life.open({ folder: moment.folder, number: 2, clock, connections, sandbox });
  try {
    await life.untilQuiet(workflow);
    const mutation = place.mutation && (await life.engine.reader.fetch('mutation', place.mutation.id))[0];
    return {
      place: place.name,
      handler: place.run?.handlerName ?? null,
      hasNext: handlers.consumers.some(({ name, hasNext }) => name === place.run?.handlerName && hasNext),
      title: place.mutation?.uiTitle ?? null,
      connection: place.mutation?.connection ?? null,
      did: didOf(place.name, mutation),
      problems: differences(expected, await endingOf(life, workflow, calls)),
    };
  } finally {
    await life.engine.close();
  }
}

function didOf(place: PlaceName, mutation: Mutation | undefined): Did {
  switch (place) {
    case 'between runs':
      return 'went on';
    case 'producing':
      return 'ran again';
    case 'before the call':
      return 'tried again';
    case 'before next':
    case 'before next, without a call':
      return 'went on at next';
    case 'waiting for approval':
      return 'waited for approval';
    case 'call recorded':
    case 'call made': {
      return `${whoWasAsked(mutation)}: ${mutation?.status === 'applied' ? 'done' : 'not done'}`;
    }
  }
}

function whoWasAsked(
  mutation: Mutation | undefined,
): 'asked the service' | 'asked the service, then you' | 'asked you' {
  if (mutation?.resolvedBy === 'reconcile') return 'asked the service';
  return mutation?.canReconcile === true ? 'asked the service, then you' : 'asked you';
}

/** What a life left behind, and everything that is wrong with it in itself. */
export async function endingOf(life: Life, workflow: WorkflowId, calls: CapturedOptions['calls']): Promise<Ending> {
  const { reader } = life.engine;
  const events = new Map<string, number>();
  for (const { topic, status } of await reader.table('events')) {
    const name = `${topic} ${status}`;
    events.set(name, (events.get(name) ?? 0) + 1);
  }
  const [row] = await reader.fetch('workflow', workflow);
  const failed = (await reader.table('handler_runs')).filter((run) => run.status.startsWith('failed:'));
  const stuck =
    row && row.status !== 'active' ? [`the workflow is ${row.status}: ${row.errorReason ?? row.holds}`] : [];
  return {
    events,
    problems: [
      ...failed.map((run) => `${run.handlerName} failed: ${run.error}`),
      ...stuck,
      ...(await sentTwice(life, calls)),
      ...(await brokenIn(reader)).map((says) => `this does not hold: ${says}`),
    ],
  };
}

async function brokenIn(reader: Life['engine']['reader']): Promise<string[]> {
  const found = await Promise.all(INVARIANTS.map(({ sql }) => reader.offenders(sql)));
  return INVARIANTS.filter((_, i) => (found[i]?.length ?? 0) > 0).map(({ says }) => says);
}

/** Calls are told apart by the events behind them: the same event must not be behind two calls of one handler. */
async function sentTwice({ engine: { reader } }: Life, calls: CapturedOptions['calls']): Promise<string[]> {
  const ledger = await reader.table('mutations');
  const counts = new Map<string, number>();
  for (const { idempotencyKey } of calls) {
    const row = ledger.find((each) => each.idempotencyKey === idempotencyKey);
    if (!row) continue;
    const handler = (await reader.fetch('run', row.rootRunId))[0]?.handlerName ?? '';
    for (const event of row.eventIds) {
      const name = `${handler} sent ${row.connection}.${row.method} for ${await eventName(reader, event)}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([name, count]) => (count > 1 ? [`${name} ${count} times`] : []));
}

async function eventName(reader: Life['engine']['reader'], id: EventId): Promise<string> {
  const [event] = await reader.fetch('event', id);
  return event ? `${event.topic} ${event.messageId}` : id;
}

function differences(expected: Ending, found: Ending): string[] {
  const names = new Set([...expected.events.keys(), ...found.events.keys()]);
  const counts = [...names].flatMap((name) => {
    const [before = 0, after = 0] = [expected.events.get(name), found.events.get(name)];
    return before === after ? [] : [`${after} events are ${name}, without the crash ${before}`];
  });
  return [...found.problems, ...counts];
}
