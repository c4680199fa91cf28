import type { WorkerId } from '#base';
import type { Engine } from '#execution';

const PAGE = 1_000;
/** Far more than a fleet has under way; what is beyond is not counted. */
const PAGES_MAX = 100;

/** How many executions each worker has under way. */
export async function loadsOf(reader: Engine['reader']): Promise<ReadonlyMap<WorkerId, number>> {
  const loads = new Map<WorkerId, number>();
  for (let after = '', pages = 0; pages < PAGES_MAX; pages++) {
    const page = await reader.unfinishedExecutions({ after, limit: PAGE });
    for (const { owner } of page) if (owner !== null) loads.set(owner, (loads.get(owner) ?? 0) + 1);
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  return loads;
}
