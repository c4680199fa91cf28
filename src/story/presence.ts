import type { WorkerId } from '#base';
import { type Engine, EXECUTORS } from '#execution';
import { count, list } from './words.ts';
import { workersSeen } from './workers.ts';

interface Warning {
  readonly about: string;
  readonly says: string;
}

/**
 * Who is missed: nobody who schedules, nobody who runs what is handed off, and those that fell silent with something under way. Whoever
 * answers, `self`, schedules by itself.
 */
export async function presenceWarnings(
  reader: Engine['reader'],
  now: number,
  self?: WorkerId,
): Promise<readonly Warning[]> {
  const seen = await workersSeen(reader, now, self);
  const living = seen.filter(({ state }) => state === 'alive');
  const workers = living.filter(({ pool }) => pool !== EXECUTORS);
  const ends = workers.length > 0 ? 'another worker ends it' : 'no worker is alive to end it: start `pawl worker`';
  const silent = seen
    .filter(({ state, load }) => state === 'silent' && load > 0)
    .map(({ name, load }) => ({
      about: `worker ${name}`,
      says: `silent, with ${count(load, 'session')} under way; ${ends}`,
    }));
  if (self !== undefined || living.some(({ pool }) => pool === EXECUTORS)) return silent;
  const names = list(living.map(({ name }) => name));
  const says =
    living.length === 0
      ? 'nobody is alive: start `pawl executor` and `pawl worker`, or `pawl start`'
      : `no executor is alive, so nobody schedules, unless ${names} is a \`pawl start\`: start \`pawl executor\``;
  return [{ about: 'processes', says }, ...silent];
}
