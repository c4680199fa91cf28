import type { NextStep, WorkerId } from '#base';
import type { Engine } from '#execution';
import type { Worker } from '#model';
import { list } from './words.ts';

type Reader = Engine['reader'];

/** Who takes what was handed off. */
export interface Takers {
  /** By the name of the workflow. */
  readonly poolOf: (workflow: string) => string;
  /** How long a session of a workflow of this name may take; undefined for as long as it likes. */
  readonly timeoutMsOf: (workflow: string) => number | undefined;
  /** How long a worker is taken for alive after a sign of life. */
  readonly leaseMs: number;
  /** Workers that have not ended; asked for once, however many workflows are told of. */
  readonly workers: () => Promise<readonly Worker[]>;
  /** Those of them whose lease holds. */
  readonly living: () => Promise<readonly Worker[]>;
}

export function takersOf(
  reader: Reader,
  now: number,
  { poolOf, timeoutMsOf, leaseMs }: Pick<Takers, 'poolOf' | 'timeoutMsOf' | 'leaseMs'>,
): Takers {
  let asked: Promise<readonly Worker[]> | undefined;
  const workers = (): Promise<readonly Worker[]> => {
    asked ??= reader.unendedWorkers();
    return asked;
  };
  return {
    poolOf,
    timeoutMsOf,
    leaseMs,
    workers,
    living: async () => (await workers()).filter(({ leaseUntil }) => leaseUntil > now),
  };
}

/** One pool, and those of it who are alive. */
export interface Pool {
  readonly name: string;
  readonly open: readonly Worker[];
  /** Open too, and without what the workflow uses, each with what that is. */
  readonly lacking: readonly { readonly name: string; readonly lacks: readonly string[] }[];
  readonly cordoned: readonly Worker[];
  readonly draining: readonly Worker[];
}

/** As one workflow finds it. */
export function poolNamed(name: string, living: readonly Worker[], workflow: string): Pool {
  const of = (status: Worker['status']): readonly Worker[] =>
    living.filter((worker) => worker.pool === name && worker.status === status);
  const open = of('open').map((worker) => ({ worker, lacks: lacksOf(worker, workflow) }));
  return {
    name,
    open: open.filter(({ lacks }) => lacks.length === 0).map(({ worker }) => worker),
    lacking: open.filter(({ lacks }) => lacks.length > 0).map(({ worker, lacks }) => ({ name: worker.name, lacks })),
    cordoned: of('cordoned'),
    draining: of('draining'),
  };
}

const lacksOf = ({ lacks }: Worker, name: string): string[] =>
  lacks.filter(({ workflow }) => workflow === name).map(({ why }) => why);

/** Why something is still there that was handed off long ago, in a few words. */
export function whyUntaken(pool: Pool): string {
  if (pool.open.length > 0) return `${list(names(pool.open))} ${areOrIs(pool.open)} full, or cannot claim it`;
  if (isEmpty(pool)) return 'none is alive';
  if (pool.lacking.length === 0) return `each is ${closedWords(pool)}`;
  return isClosed(pool) ? `${lackWords(pool)}; each other is ${closedWords(pool)}` : lackWords(pool);
}

export function stepsToTake(pool: Pool): NextStep[] {
  const closed = pool.open.length > 0 ? [] : pool.cordoned.slice(0, UNCORDONS_MAX);
  return [
    { label: 'see who is at work', argv: ['pawl', 'workers'] },
    ...(pool.open.length > 0 || pool.lacking.length === 0 ? [] : [{ label: mendWords(pool) }]),
    ...closed.map(({ id, name }) => ({ label: `let ${name} take work again`, argv: ['pawl', 'uncordon', id] })),
    { label: startWords(pool) },
  ];
}

/** The same with what to do about it, for whoever knows how much each has under way. */
export function adviceToTake(pool: Pool, loads: ReadonlyMap<WorkerId, number>): string {
  const of = `of pool ${pool.name}`;
  if (isEmpty(pool)) return `no worker ${of} is alive; ${startWords(pool)}`;
  if (pool.open.length === 0) {
    const uncordons = pool.cordoned.slice(0, UNCORDONS_MAX).map(({ id, name }) => `pawl uncordon ${id} (${name})`);
    const lacking = pool.lacking.length === 0 ? [] : [lackWords(pool), mendWords(pool)];
    const every = pool.lacking.length === 0 ? 'every worker' : 'every other worker';
    const closed = isClosed(pool) ? [`${every} ${of} is ${closedWords(pool)}`] : [];
    return [...lacking, ...closed, ...uncordons, startWords(pool)].join('; ');
  }
  const free = pool.open.filter(({ id, concurrency }) => concurrency === null || (loads.get(id) ?? 0) < concurrency);
  if (free.length === 0) {
    const full = pool.open.map(({ id, name, concurrency }) => `${name} ${loads.get(id) ?? 0}/${concurrency}`);
    return `every open worker ${of} is full (${list(full)}); wait, or ${startWords(pool)}`;
  }
  const claims = free.length === 1 ? 'does not claim it' : 'do not claim it';
  return `${list(names(free))} ${of} ${areOrIs(free)} open and ${claims}; look at the log, and whether its config has the same fleet.pools`;
}

/** More workers than this are not named one by one in commands. */
const UNCORDONS_MAX = 5;

const isClosed = ({ cordoned, draining }: Pool): boolean => cordoned.length + draining.length > 0;
const isEmpty = (pool: Pool): boolean => pool.open.length + pool.lacking.length === 0 && !isClosed(pool);
const names = (workers: readonly { readonly name: string }[]): string[] => workers.map(({ name }) => name);
const areOrIs = (workers: readonly Worker[]): string => (workers.length === 1 ? 'is' : 'are');

function closedWords({ cordoned, draining }: Pool): string {
  if (draining.length === 0) return 'cordoned';
  return cordoned.length === 0 ? 'draining' : 'cordoned or draining';
}

function lackWords({ lacking }: Pool): string {
  return list(lacking.map(({ name, lacks }) => `${name} ${lacks.join(' and ')}`));
}

function mendWords({ lacking }: Pool): string {
  return `give ${list(names(lacking))} what is missing, and start ${lacking.length === 1 ? 'it' : 'each'} again`;
}

function startWords(pool: Pool): string {
  return `start ${isEmpty(pool) ? 'one' : 'another'}: pawl worker --pool ${pool.name}`;
}
