import type { NextStep, WorkflowId } from '#base';
import type { Workflow, WorkflowStatus } from '#model';
import { setAside } from './needs.ts';
import { pendingOf } from './pending.ts';
import { type Condition, standingOf } from './standing.ts';
import type { Teller } from './teller.ts';
import { count, duration } from './words.ts';

/** Counting stops here: nobody acts otherwise on more. */
const COUNT_MAX = 100_000;

export interface Waiting {
  readonly pending: number;
  readonly reserved: number;
  readonly parked: number;
  readonly deliveries: number;
}

export interface Status {
  readonly workflow: WorkflowId;
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly kind: Condition['kind'];
  /** Of everything that stands, the one to look at first in front. */
  readonly kinds: readonly Condition['kind'][];
  /** Everything that stands, as one sentence. */
  readonly sentence: string;
  readonly since: number | null;
  /** What waits behind it, in words; null when nothing does. */
  readonly blocks: string | null;
  readonly waiting: Waiting;
  readonly next: readonly NextStep[];
}

/** How a workflow stands, for whoever looks at 3 am: what, since when, what it blocks, and what to type. */
export async function statusOf(teller: Teller, workflow: Workflow): Promise<Status> {
  const standing = await standingOf(teller, workflow);
  const [first, ...others] = standing;
  const waiting = await waitingOf(teller, workflow);
  const blocked = standing.some((condition) => condition.blocks) ? waiting : NOTHING;
  const open = await setAside(teller, workflow);
  const also = [...[...others, ...open].map(({ sentence }) => sentence), ...parkedWords(waiting.parked)];
  return {
    workflow: workflow.id,
    name: workflow.name,
    status: workflow.status,
    kind: first.kind,
    kinds: [...new Set(standing.map(({ kind }) => kind))],
    sentence: `${first.sentence}${also.map((each) => `; also ${each}`).join('')}${aside(teller, first, blocked)}`,
    since: first.since,
    blocks: blockedWords(blocked),
    waiting,
    next: [...[...standing, ...open].flatMap((condition) => condition.next), ...parkedSteps(workflow, waiting.parked)],
  };
}

function parkedWords(parked: number): string[] {
  return parked === 0 ? [] : [`${count(parked, 'event')} put aside`];
}

function parkedSteps({ name }: Workflow, parked: number): NextStep[] {
  if (parked === 0) return [];
  const argv = ['pawl', 'events', name, '--status', 'parked'];
  return [{ label: 'see what was put aside, to bring it back (pawl unpark) or leave it out (pawl skip)', argv }];
}

export async function waitingOf(teller: Pick<Teller, 'history'>, workflow: Workflow): Promise<Waiting> {
  const { history } = teller;
  const { id } = workflow;
  return {
    pending: await pendingOf(teller, workflow, COUNT_MAX),
    reserved: await history.countEvents(id, 'reserved', COUNT_MAX),
    parked: await history.countEvents(id, 'parked', COUNT_MAX),
    deliveries: await history.countDeliveries(id, COUNT_MAX),
  };
}

type Blocked = Pick<Waiting, 'pending' | 'deliveries'>;
const NOTHING: Blocked = { pending: 0, deliveries: 0 };

function blockedWords({ pending, deliveries }: Blocked): string | null {
  const words = [
    ...(pending > 0 ? [count(pending, 'event')] : []),
    ...(deliveries > 0 ? [count(deliveries, 'delivery', 'deliveries')] : []),
  ];
  return words.length === 0 ? null : words.join(' and ');
}

function aside({ now }: Teller, { since, blocks: stops }: Condition, blocked: Blocked): string {
  const words = blockedWords(blocked);
  const waits = blocked.pending + blocked.deliveries === 1 ? 'waits' : 'wait';
  const facts = [
    ...(stops && since !== null ? [`since ${duration(now - since)}`] : []),
    ...(words === null ? [] : [`${words} ${waits} behind it`]),
  ];
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}
