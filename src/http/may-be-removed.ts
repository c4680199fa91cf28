import { type IdKind, idShapeOf, idTimeOf } from '#base';
import type { Api } from './context.ts';
import type { Problem } from './problem.ts';

const DAY_MS = 86_400_000;
const REMOVED: readonly (IdKind | undefined)[] = [
  'run',
  'event',
  'mutation',
  'evidence',
  'delivery',
  'session',
  'execution',
  'input',
];
const WORD = /\b[a-z]{2,3}_[0-9A-Za-z]+\b/g;

/** Nobody remembers what was removed: of an id that is old enough it can only be said that it may have been there. */
export function withRetention({ app }: Pick<Api, 'app'>, problem: Problem): Problem {
  if (problem.code !== 'not-found' || app.retention === undefined) return problem;
  const { keepDays } = app.retention.state();
  const before = app.clock.now() - keepDays * DAY_MS;
  const named = problem.detail.match(WORD) ?? [];
  if (!named.some((id) => REMOVED.includes(idShapeOf(id)) && (idTimeOf(id) ?? 0) < before)) return problem;
  const days = keepDays === 1 ? '1 day' : `${keepDays} days`;
  return { ...problem, why: `${problem.why}; it may have been removed: history is kept for ${days}` };
}
