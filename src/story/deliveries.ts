import type { Delivery, Run } from '#model';
import type { Teller } from './teller.ts';
import { count, oneLine } from './words.ts';

/** How a delivery stands: `failed` is the one that its webhook failed on, and that its workflow waits for. */
type DeliveryStatus = 'pending' | 'running' | 'failed' | 'done' | 'skipped';

export interface DeliveryStory {
  readonly status: DeliveryStatus;
  readonly sentence: string;
  readonly skippedBy: string | null;
  readonly skippedAt: number | null;
  /** Every run that was called with it, oldest first. */
  readonly runs: readonly Run[];
}

const AUDIT_MAX = 100;
const PUBLISHED_MAX = 100;

/** What came of a delivery. The row knows only that it is not handed over any more; its runs and the audit know why. */
export async function deliveryStory(teller: Pick<Teller, 'history'>, row: Delivery): Promise<DeliveryStory> {
  const found = await teller.history.fetch('runsOfDelivery', row.workflowId, row.id);
  const runs = found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const plain = { skippedBy: null, skippedAt: null, runs };
  if (row.status === 'pending') return { ...plain, ...(await waits(teller, row, runs)) };
  const last = runs.find(({ id }) => id === row.runId);
  if (!last || last.status === 'committed')
    return { ...plain, status: 'done', sentence: await handled(teller, row, last) };
  const skip = (await teller.history.audit(row.id, AUDIT_MAX)).find(({ act }) => act === 'skip');
  return {
    runs,
    status: 'skipped',
    sentence: `skipped by ${skip?.actor ?? 'somebody'}, because ${failure(row, last)}`,
    skippedBy: skip?.actor ?? null,
    skippedAt: skip?.at ?? null,
  };
}

async function waits(
  { history }: Pick<Teller, 'history'>,
  row: Delivery,
  runs: readonly Run[],
): Promise<Pick<DeliveryStory, 'status' | 'sentence'>> {
  const { handlerName, workflowId } = row;
  if (runs.some(({ status }) => status === 'active'))
    return { status: 'running', sentence: `${handlerName} is called with it` };
  const [workflow] = await history.fetch('workflow', workflowId);
  const stopped = runs.find(({ id }) => id === workflow?.maintenanceRunId);
  if (stopped) return { status: 'failed', sentence: `the whole workflow waits, because ${failure(row, stopped)}` };
  const tries = runs.length === 0 ? '' : ` again, after ${count(runs.length, 'try', 'tries')}`;
  return { status: 'pending', sentence: `waits to be handed to ${handlerName}${tries}` };
}

async function handled({ history }: Pick<Teller, 'history'>, { handlerName }: Delivery, run: Run | undefined) {
  const events = run ? await history.eventsPublishedBy(run.id, { limit: PUBLISHED_MAX }) : [];
  return `${handlerName} was called with it, and published ${events.length === 0 ? 'nothing' : count(events.length, 'event')}`;
}

function failure({ handlerName }: Delivery, { error }: Run): string {
  return `${handlerName} failed on it: ${oneLine(error ?? 'no reason was given')}`;
}
