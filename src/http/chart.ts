import { RefusedError, type WorkflowId } from '#base';
import type { Workflow } from '#model';
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
export async function chartOf(teller: Teller, { workflow, from, to = teller.now + 1, per }: ChartAsked) {
  const width = WIDTH[per];
  const end = Math.ceil(to / width) * width;
  const begin = Math.floor((from ?? end - BUCKETS_DEFAULT[per] * width) / width) * width;
  const columns = Math.max(0, (end - begin) / width);
  if (columns > BUCKETS_MAX) throw tooWide(columns);
  const starts = Array.from({ length: columns }, (_, i) => begin + i * width);
  const items = await Promise.all(starts.map((at) => bucketOf(teller, at, width, workflow)));
  return { per, from: begin, to: end, items };
}

export async function bucketOf({ history }: Teller, at: number, width: number, workflow?: WorkflowId): Promise<Bucket> {
  const span = { workflow, from: at, to: at + width };
  const outputs = await history.countMade('mutations', span);
  const failed = outputs === 0 ? 0 : await history.countTroubled('failed', span);
  const waiting = outputs === 0 ? 0 : await history.countTroubled('pending', span);
  const unknown =
    outputs === 0
      ? 0
      : (await history.countTroubled('needs_reconcile', span)) + (await history.countTroubled('indeterminate', span));
  const done = outputs - failed - waiting - unknown;
  return { at, inputs: await history.countMade('inputs', span), outputs, done, failed, waiting, unknown };
}

/** What waits in each workflow, the oldest in front; where nothing waits there is no line. Topics that nobody reads are no backlog. */
export async function backlogOf(teller: Teller) {
  const workflows = await teller.history.workflows({ limit: WORKFLOWS_MAX });
  const lines = await Promise.all(workflows.map((workflow) => backlogLine(teller, workflow)));
  return lines.flat().sort((a, b) => a.oldestAt - b.oldestAt);
}

async function backlogLine({ history, now }: Teller, { id, name, activeScriptId }: Workflow) {
  const [script] = activeScriptId === null ? [] : await history.fetch('script', activeScriptId);
  const read = new Set(script?.handlers.consumers.flatMap(({ subscribe }) => subscribe));
  const heads = (await history.fetch('heads', id)).filter(({ topic }) => read.has(topic));
  const first = await Promise.all(heads.map(({ oldestId }) => history.fetch('event', oldestId)));
  const [oldest] = first
    .flat()
    .map(({ createdAt }) => createdAt)
    .sort((a, b) => a - b);
  if (oldest === undefined) return [];
  const counts = await Promise.all(heads.map(({ topic }) => history.countOfTopic(id, topic, 'pending', COUNT_MAX)));
  const pending = counts.reduce((sum, each) => sum + each, 0);
  return [{ workflow: id, name, pending, oldestAt: oldest, ageMs: Math.max(0, now - oldest) }];
}

function tooWide(columns: number): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `a chart of ${columns} columns is not drawn`,
    why: `at most ${BUCKETS_MAX} fit`,
    next: [{ label: 'ask for a shorter time, or by the day' }],
  });
}
