import type { Filled } from './schema-fields.ts';

/** How many more calls an approval covers, and for how long. */
interface Cover {
  readonly calls: number;
  readonly hours: number;
  /** Where nothing is said: wherever it was allowed, or here if it was not. */
  readonly target?: 'this';
}

const HOURS_MAX = 720;

export function coverOf(calls: string, hours: string, isOnlyHere: boolean): Filled {
  const [howMany, howLong] = [Number(calls), Number(hours)];
  if (!Number.isInteger(howMany) || howMany < 1) return { wrong: 'How many calls? A whole number, 1 or more.' };
  if (!(howLong > 0 && howLong <= HOURS_MAX))
    return { wrong: `How many hours? More than 0, and ${HOURS_MAX} at most.` };
  return { value: { calls: howMany, hours: howLong, ...(isOnlyHere && { target: 'this' }) } satisfies Cover };
}

export const AGE_UNITS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
export type AgeUnit = keyof typeof AGE_UNITS;

export interface Age {
  readonly ageMs: number;
}

export function ageOf(amount: string, unit: AgeUnit): Filled {
  const howOld = amount.trim() === '' ? Number.NaN : Number(amount);
  if (!(howOld >= 0)) return { wrong: 'How old? A number, 0 or more.' };
  return { value: { ageMs: Math.round(howOld * AGE_UNITS[unit]) } satisfies Age };
}
