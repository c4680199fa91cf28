import { Cron } from 'croner';
import { cut } from '#base';

/** A producer's schedule, parsed. */
export type ScriptSchedule = { readonly intervalMs: number } | { readonly cron: string; readonly timeZone: string };

export type ParsedSchedule =
  | { readonly kind: 'schedule'; readonly schedule: ScriptSchedule }
  | { readonly kind: 'nonsense' | 'too-frequent'; readonly message: string; readonly fix: string };

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A session takes longer than less would leave; nobody's API is glad of it either. */
const INTERVAL_MS_MIN = 1_000;
/** Beyond a year a schedule is a mistake of units. */
const INTERVAL_MS_MAX = 366 * 86_400_000;
const CRON_CHARS_MAX = 200;
/** Validation must not depend on the day it is done: cron lines are tried from here on. */
const TRIED_FROM = new Date('2028-01-01T00:00:00Z');
const EXAMPLES = "write { interval: '30s' }, '5m', '1h' or '1d', or { cron: '0 8 * * 1-5', timeZone: 'Europe/Berlin' }";

export function parseSchedule(value: unknown): ParsedSchedule {
  if (typeof value !== 'object' || value === null) return nonsense(`${JSON.stringify(value)} is no schedule`);
  const { interval, cron, timeZone, ...rest } = value as Record<string, unknown>;
  const [unknownField] = Object.keys(rest);
  if (unknownField !== undefined) return nonsense(`a schedule has no "${unknownField}"`);
  if ((interval === undefined) === (cron === undefined)) return nonsense('a schedule is an interval or a cron line');
  if (cron !== undefined) return parseCron(cron, timeZone ?? 'UTC');
  return timeZone === undefined ? parseInterval(interval) : nonsense('an interval is the same in every time zone');
}

/** The first tick after this moment; null when there is none. */
export function nextTick(schedule: ScriptSchedule, after: number): number | null {
  if ('intervalMs' in schedule) return after + schedule.intervalMs;
  return cronOf(schedule.cron, schedule.timeZone).nextRun(new Date(after))?.getTime() ?? null;
}

function parseInterval(interval: unknown): ParsedSchedule {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(String(interval)) ?? [];
  const unitMs = UNIT_MS[unit];
  if (typeof interval !== 'string' || unitMs === undefined) {
    return nonsense(`${JSON.stringify(interval)} is no interval: it is a whole number and s, m, h or d`);
  }
  const intervalMs = Number(count) * unitMs;
  if (intervalMs < INTERVAL_MS_MIN) return tooFrequent(`every ${interval}`);
  if (intervalMs > INTERVAL_MS_MAX) return nonsense(`every ${interval} is more than a year apart`);
  return { kind: 'schedule', schedule: { intervalMs } };
}

function parseCron(cron: unknown, timeZone: unknown): ParsedSchedule {
  if (typeof cron !== 'string' || cron.length > CRON_CHARS_MAX || !/^(?:\S+\s+){4,5}\S+$/.test(cron.trim())) {
    return nonsense(
      `${cut(JSON.stringify(cron) ?? '', 100)} is no cron line: it has five fields, or six with the seconds first`,
    );
  }
  if (typeof timeZone !== 'string' || !isTimeZone(timeZone)) {
    return nonsense(`${JSON.stringify(timeZone)} is no time zone such as Europe/Berlin`);
  }
  try {
    const ticks = cronOf(cron, timeZone).nextRuns(60, TRIED_FROM);
    if (ticks.length === 0) return nonsense(`the cron line "${cron}" names a time that never comes`);
    const gaps = ticks.slice(1).map((tick, index) => tick.getTime() - (ticks[index]?.getTime() ?? 0));
    if (Math.min(...gaps) < INTERVAL_MS_MIN) return tooFrequent(`the cron line "${cron}"`);
  } catch (error) {
    return nonsense(`"${cron}" is no cron line: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { kind: 'schedule', schedule: { cron, timeZone } };
}

function cronOf(cron: string, timeZone: string): Cron {
  return new Cron(cron, { timezone: timeZone, paused: true });
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

function nonsense(message: string): ParsedSchedule {
  return { kind: 'nonsense', message, fix: EXAMPLES };
}

function tooFrequent(what: string): ParsedSchedule {
  return {
    kind: 'too-frequent',
    message: `${what} is more often than once a second`,
    fix: 'choose an interval of 1s or more; for things as they happen, use a webhook',
  };
}
