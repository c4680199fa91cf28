import type { Engine } from '#execution';
import type { Limit } from '#model';
import { count, duration, limitWords } from './words.ts';

const WAITERS_MAX = 1_000;

interface Warning {
  readonly about: string;
  readonly says: string;
}

/**
 * Limits that somebody waits at, and those that the config of whoever asks has otherwise than they count. Nothing is broken by it; whoever
 * wonders why something waits looks here.
 */
export async function limitWarnings(
  reader: Engine['reader'],
  now: number,
  configured?: ReadonlyMap<string, number>,
): Promise<readonly Warning[]> {
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
  return [...waits.flat(), ...(configured ? otherwise(limits, configured) : [])];
}

/** Whoever started last with another config has set them for all. */
function otherwise(limits: readonly Limit[], configured: ReadonlyMap<string, number>): readonly Warning[] {
  const counting = new Map(limits.flatMap(({ name, slotsMax }) => (slotsMax === null ? [] : [[name, slotsMax]])));
  const names = new Set([...counting.keys(), ...configured.keys()]);
  return [...names]
    .filter((name) => counting.get(name) !== configured.get(name))
    .map((name) => ({
      about: `limit ${name}`,
      says: `${counting.get(name) ?? 'none'} counts for all processes, and the config of this one says ${configured.get(name) ?? 'none'}: give all executors the same config, and start them again`,
    }));
}
