const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Older than this, a date says more than a number of days. */
const DAYS_MAX = 14 * DAY;

/** `3 s`, `4 min`, `2 h`, `5 days`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.floor(whole / SECOND)} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h`;
  return `${Math.floor(whole / DAY)} days`;
}

/** How long something took: short things to the millisecond. */
export function elapsed(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  return duration(ms);
}

/** `4 min ago`, `in 12 s`. */
export function relative(at: number, now: number): string {
  const ago = now - at;
  if (Math.abs(ago) > DAYS_MAX) return day.format(at);
  if (ago >= 0) return ago < SECOND ? 'just now' : `${duration(ago)} ago`;
  return `in ${duration(-ago + SECOND - 1)}`;
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const clockOnly = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const whole = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
});

/** The exact time, in the reader's own zone. */
export function exact(at: number): string {
  return whole.format(at);
}

/** `14:03:20`, with its date when that is another day. */
export function clockTime(at: number, now: number): string {
  return day.format(at) === day.format(now) ? clockOnly.format(at) : `${day.format(at)}, ${clockOnly.format(at)}`;
}
