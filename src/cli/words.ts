// Times, amounts and commands as a person reads them.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `3 min`, `2 h 5 min`, `4 days`. */
export function duration(ms: number): string {
  if (ms < 1_000) return 'less than 1 s';
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) {
    const minutes = Math.floor((ms % HOUR) / MINUTE);
    return minutes === 0 ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / HOUR)} h ${minutes} min`;
  }
  const days = Math.floor(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

/** The day only when it is not today. */
export function moment(at: number, now: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * MINUTE).toISOString();
  const today = new Date(now - new Date(now).getTimezoneOffset() * MINUTE).toISOString();
  const time = local.slice(11, 19);
  return local.slice(0, 10) === today.slice(0, 10) ? time : `${local.slice(0, 10)} ${time}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A command as it can be typed. */
export function typed(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
