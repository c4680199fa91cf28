import type { KillPoint } from '#base';
import type { Chance } from './chance.ts';

/** How one engine dies. */
export type Death =
  /** At a named point, by its own hand. */
  | { readonly kind: 'at point'; readonly point: KillPoint; readonly nth: number }
  /** So long after it was started, ready or not. */
  | { readonly kind: 'after start'; readonly ms: number }
  | { readonly kind: 'after ready'; readonly ms: number }
  /** Stopped, and killed before it could go on. */
  | { readonly kind: 'while frozen'; readonly ms: number; readonly frozenMs: number }
  /** Asked to end, and killed before it had. */
  | { readonly kind: 'while draining'; readonly ms: number; readonly drainingMs: number };

/** How often each point is reached in the first second or so of an engine with work; an nth beyond that is never reached. */
const REACHED: Readonly<Record<KillPoint, number>> = {
  'migration-step': 90,
  'before-recovery': 2,
  'after-recovery': 2,
  'before-commit': 30,
  'after-commit': 30,
  'call-recorded': 6,
  'first-byte': 6,
  'call-answered': 6,
  'look-up-answered': 2,
  'deploy-step': 2,
  'key-rotated': 1,
  'notice-begun': 1,
  'notice-sent': 1,
  drained: 1,
};

const START_MS = 600;
const AT_WORK_MS = 700;

/** Points that every engine comes to, whatever it finds. */
const EVERYWHERE = [
  'before-recovery',
  'after-recovery',
  'before-commit',
  'after-commit',
  'call-recorded',
  'first-byte',
  'call-answered',
  'look-up-answered',
  'deploy-step',
  'drained',
] as const satisfies readonly KillPoint[];

/** So many deaths for one folder: the first in its migration, then every point in turn, every second one at a random time. */
export function deathsOf(count: number, chance: Chance): Death[] {
  return Array.from({ length: count }, (_, position): Death => {
    if (position === 0) return atPoint('migration-step', chance);
    if (position % 2 === 0) return atRandom(chance);
    const point = EVERYWHERE[((position - 1) / 2 + offset(count)) % EVERYWHERE.length];
    if (point === undefined) throw new Error('there is no such point');
    return atPoint(point, chance);
  });
}

/** A short list still has the points that matter most: those around a call. */
function offset(count: number): number {
  return count < 2 * EVERYWHERE.length ? 2 : 0;
}

function atPoint(point: KillPoint, chance: Chance): Death {
  return { kind: 'at point', point, nth: 1 + chance.below(REACHED[point]) };
}

function atRandom(chance: Chance): Death {
  const kind = chance.weighted({ 'after ready': 6, 'after start': 2, 'while frozen': 1, 'while draining': 1 });
  const ms = chance.below(kind === 'after start' ? START_MS : AT_WORK_MS);
  switch (kind) {
    case 'after start':
    case 'after ready':
      return { kind, ms };
    case 'while frozen':
      return { kind, ms, frozenMs: chance.below(300) };
    case 'while draining':
      return { kind, ms, drainingMs: chance.below(30) };
  }
}

export function deathName(death: Death): string {
  return death.kind === 'at point' ? `at ${death.point}` : death.kind;
}
