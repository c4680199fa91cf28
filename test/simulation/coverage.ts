import type { PhaseOfWork } from './judge.ts';

export const SIDES = ['before', 'after'] as const;
export type Side = (typeof SIDES)[number];
/** The first process, the one that recovers from its death, and the one that recovers from that; later ones count as third. */
export const LIVES = [1, 2, 3] as const;

/** The one place to die that is no commit. */
export const THE_CALL = '(the call itself)';

/** How often each thing was hit, as threads hand it on. */
export interface Counts {
  readonly histories: number;
  readonly transitions: ReadonlyMap<string, number>;
  readonly deaths: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
}

/** What was hit, and how often. */
export class Coverage implements Counts {
  histories = 0;
  readonly transitions = new Map<string, number>();
  readonly deaths = new Map<string, number>();
  readonly faults = new Map<string, number>();

  transition(name: string): void {
    count(this.transitions, name, 1);
  }

  death(transition: string, side: Side, life: number): void {
    count(this.deaths, `${transition}|${side}|${Math.min(life, LIVES.length)}`, 1);
  }

  fault(name: string, phase: PhaseOfWork): void {
    count(this.faults, `${name}|${phase}`, 1);
  }

  deathsAt(transition: string, side: Side, life: number): number {
    return this.deaths.get(`${transition}|${side}|${life}`) ?? 0;
  }

  faultsIn(name: string, phase: PhaseOfWork): number {
    return this.faults.get(`${name}|${phase}`) ?? 0;
  }

  counts(): Counts {
    const { histories, transitions, deaths, faults } = this;
    return { histories, transitions, deaths, faults };
  }

  add({ histories, transitions, deaths, faults }: Counts): void {
    this.histories += histories;
    for (const [name, times] of transitions) count(this.transitions, name, times);
    for (const [name, times] of deaths) count(this.deaths, name, times);
    for (const [name, times] of faults) count(this.faults, name, times);
  }
}

function count(counts: Map<string, number>, name: string, times: number): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}
