import { RefusedError, type WorkflowId } from '#base';
import type { Teller } from '#story';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WIDTH = { hour: HOUR, day: DAY } as const;
/** More columns than a screen has room for. */
const BUCKETS_MAX = 400;
const BUCKETS_DEFAULT = { hour: 48, day: 30 } as const;
const WORKFLOWS_MAX = 10_000;
const COUNT_MAX = 100_000;

export interface Bucket {
  readonly at: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly done: number;
  readonly failed: number;
  readonly waiting: number;
  readonly unknown: number;
}

export interface ChartAsked {
  readonly workflow?: WorkflowId | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly per: 'hour' | 'day';
}

/** Whole hours or days of universal time: the page that shows them knows its reader's own. */
export function chartOf(teller: Teller, { workflow, from, to = teller.now + 1, per }: ChartAsked) {
  const width = WIDTH[per];
  const end = Math.ceil(to / width) * width;
  const begin = Math.floor((from ?? end - BUCKETS_DEFAULT[per] * width) / width) * width;
  const columns = Math.max(0, (end - begin) / width);
  if (columns > BUCKETS_MAX) throw tooWide(columns);
  const items = Array.from({ length: columns }, (_, i) => bucketOf(teller, begin + i * width, width, workflow));
  return { per, from: begin, to: end, items };
}

export function bucketOf({ history }: Teller, at: number, width: number, workflow?: WorkflowId): Bucket {
  const span = { workflow, from: at, to: at + width };
  const outputs = history.countMade('mutations', span);
  const failed = outputs === 0 ? 0 : history.countTroubled('failed', span);
  const waiting = outputs === 0 ? 0 : history.countTroubled('pending', span);
  const unknown =
    outputs === 0 ? 0 : history.countTroubled('needs_reconcile', span) + history.countTroubled('indeterminate', span);
  const done = outputs - failed - waiting - unknown;
  return { at, inputs: history.countMade('inputs', span), outputs, done, failed, waiting, unknown };
}

/** What waits in each workflow, the oldest in front; where nothing waits there is no line. Topics that nobody reads are no backlog. */
export function backlogOf({ history, now }: Teller) {
  return history
    .workflows({ limit: WORKFLOWS_MAX })
    .flatMap((workflow) => {
      const [script] = workflow.activeScriptId === null ? [] : history.fetch('script', workflow.activeScriptId);
      const read = new Set(script?.handlers.consumers.flatMap(({ subscribe }) => subscribe));
      const heads = history.fetch('heads', workflow.id).filter(({ topic }) => read.has(topic));
      const [oldest] = heads
        .flatMap(({ oldestId }) => history.fetch('event', oldestId))
        .map(({ createdAt }) => createdAt)
        .sort((a, b) => a - b);
      if (oldest === undefined) return [];
      const counts = heads.map(({ topic }) => history.countOfTopic(workflow.id, topic, 'pending', COUNT_MAX));
      const pending = counts.reduce((sum, each) => sum + each, 0);
      const { id, name } = workflow;
      return [{ workflow: id, name, pending, oldestAt: oldest, ageMs: Math.max(0, now - oldest) }];
    })
    .sort((a, b) => a.oldestAt - b.oldestAt);
}

function tooWide(columns: number): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `a chart of ${columns} columns is not drawn`,
    why: `at most ${BUCKETS_MAX} fit`,
    next: [{ label: 'ask for a shorter time, or by the day' }],
  });
}
