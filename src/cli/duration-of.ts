import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30m`, `12h`, `90d` as milliseconds. */
export function durationOf(given: string): number {
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(given) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  throw new InvalidArgumentError('a time is a number with m, h or d: 30m, 12h, 90d.');
}
