import type { WorkerId } from '#base';
import { type Engine, EXECUTORS } from '#execution';
import type { Symptom } from './symptoms.ts';
import { clockTime, count, duration, list } from './words.ts';
import { workersSeen } from './workers.ts';

interface Warning {
  readonly about: string;
  readonly says: string;
}

interface Presence {
  /** Nothing goes on while nobody schedules, or nobody runs what is handed off. */
  readonly missed: Symptom;
  /** Those that fell silent with something under way. */
  readonly silent: readonly Warning[];
}

/** Who is missed. Whoever answers, `self`, schedules by itself. */
export async function presenceOf(reader: Engine['reader'], now: number, self?: WorkerId): Promise<Presence> {
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
  const schedules = self !== undefined || workers.length < living.length;
  const why = whyMissed(schedules, workers, living);
  return {
    missed: {
      name: 'nobody at work',
      says: 'somebody schedules what is due, and somebody runs what is handed off',
      offenders: why === undefined ? [] : [{ id: 'processes', why }],
    },
    silent,
  };
}

type Named = readonly { readonly name: string }[];

function whyMissed(schedules: boolean, workers: Named, living: Named): string | undefined {
  if (living.length === 0) return 'nobody is alive: start `pawl executor` and `pawl worker`, or `pawl start`';
  if (workers.length === 0) return 'no worker is alive, so nobody runs what is handed off: start `pawl worker`';
  if (schedules) return undefined;
  // A worker does not schedule, and a process of `pawl start` does: their rows do not say which they are.
  const names = list(workers.map(({ name }) => name));
  return `no executor is alive, so nobody schedules, unless ${names} is a \`pawl start\`: start \`pawl executor\``;
}

/** Of a process that is taken for dead: since when, and what becomes of what it had; undefined while it is alive. */
export async function silenceWords(
  reader: Engine['reader'],
  now: number,
  leaseMs: number,
  worker: WorkerId,
  self: WorkerId,
): Promise<string | undefined> {
  const seen = await workersSeen(reader, now, self);
  const found = seen.find(({ id }) => id === worker);
  if (found?.state !== 'silent') return undefined;
  const heardAt = found.leaseUntil - leaseMs;
  const isAnyone = seen.some(({ state, pool }) => state === 'alive' && pool !== EXECUTORS);
  const ends = isAnyone ? 'another worker ends' : 'no worker is alive to end';
  const had =
    found.load === 0 ? 'it had nothing under way' : `${ends} the ${count(found.load, 'session')} it had under way`;
  return `it has been silent since ${clockTime(heardAt, now)} (for ${duration(now - heardAt)}) and is taken for dead; ${had}`;
}
