import type { Engine } from '#execution';
import { count, duration, limitWords } from './words.ts';

const WAITERS_MAX = 1_000;

/** Limits that somebody waits at. Nothing is broken by it; whoever wonders why something waits looks here. */
export async function limitWarnings(
  reader: Engine['reader'],
  now: number,
): Promise<readonly { readonly about: string; readonly says: string }[]> {
  const limits = await reader.table('limits');
  const waits = await Promise.all(
    limits.map(async ({ name, slotsMax }) => {
      const waiting = await reader.slotWaiters(name, WAITERS_MAX);
      const [longest] = waiting;
      if (!longest) return [];
      const words = limitWords(name, await reader.slotsTaken(name), slotsMax);
      const wait = `${count(waiting.length, 'workflow')} ${waiting.length === 1 ? 'waits' : 'wait'}`;
      return [{ about: `limit ${name}`, says: `${words}; ${wait}, the first for ${duration(now - longest.since)}` }];
    }),
  );
  return waits.flat();
}
