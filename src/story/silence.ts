import type { NextStep } from '#base';
import { EXECUTORS } from '#execution';
import { type Boundary, boundaryOf, type Execution, type Run, type Workflow } from '#model';
import { poolNamed, stepsToTake } from './takers.ts';
import type { Teller } from './teller.ts';
import { duration } from './words.ts';

/** Of a lease, without a sign of life: three of nine were due. */
const SILENT_SHARE = 3;

/** Whoever runs a session has not been heard of. */
export interface Silence {
  readonly words: string;
  /** Its lease is over: it is taken for dead. */
  readonly isOver: boolean;
  readonly next: readonly NextStep[];
}

/** What is known of the worker of a session that is silent, and what happens next; undefined while it shows that it is alive. */
export async function silenceOf(
  teller: Teller,
  workflow: Workflow,
  execution: Execution,
  run: Run | undefined,
): Promise<Silence | undefined> {
  const { now, takers } = teller;
  const { owner } = execution;
  if (!takers || owner === null) return undefined;
  const worker = (await takers.workers()).find(({ id }) => id === owner);
  const heardAt = worker && worker.leaseUntil - takers.leaseMs;
  if (heardAt !== undefined && now - heardAt <= takers.leaseMs / SILENT_SHARE) return undefined;
  const name = worker?.name ?? owner;
  const then = await afterwards(teller, execution, run);
  if (worker && worker.leaseUntil > now) {
    const left = duration(worker.leaseUntil - now);
    const words = `its worker ${name} has been silent for ${duration(now - (heardAt ?? now))}: if it stays so, another ends this session when its lease is over, in ${left}, and ${then}`;
    return { words, isOver: false, next: WHO };
  }
  const since = worker ? `, its lease is over for ${duration(now - worker.leaseUntil)}` : ' and has ended';
  const living = await takers.living();
  if (living.some(({ pool }) => pool !== EXECUTORS)) {
    return {
      words: `its worker ${name} is silent${since}: another ends this session, and ${then}`,
      isOver: true,
      next: WHO,
    };
  }
  const words = `its worker ${name} is silent${since}, and no worker is alive to end this session: when one is, ${then}`;
  return { words, isOver: true, next: stepsToTake(poolNamed(takers.poolOf(workflow.name), living, workflow.name)) };
}

const WHO: readonly NextStep[] = [{ label: 'see who is at work', argv: ['pawl', 'workers'] }];

/** As recovery decides it: by where the run stands to its effect. */
const THEN: Readonly<Record<Boundary, string>> = {
  before: 'it begins anew, because nothing was sent',
  unknown: 'its call counts as unknown, and is looked up or asked about',
  held: 'its call waits for approval',
  after: 'it goes on after its call, which is not sent again',
};

async function afterwards({ history }: Teller, execution: Execution, run: Run | undefined): Promise<string> {
  const isCancelled = execution.cancelRequestedAt !== null;
  if (!run) return isCancelled ? 'it is cancelled' : 'what is left is for another session';
  const [ledger] = await history.fetch('ledger', run.rootRunId);
  const boundary = boundaryOf(run, ledger, (await history.fetch('reserved', run.id)).length);
  if (!isCancelled) return THEN[boundary];
  return boundary === 'unknown' ? `it is cancelled; ${THEN.unknown}` : 'it is cancelled';
}
