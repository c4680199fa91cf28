import type { Event, EventStatus, Evidence, Mutation, Run, Trigger } from '#model';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `3 s`, `4 min`, `2 h`, `5 days`: how long, as people say it. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.ceil(whole / SECOND)} s`;
  if (whole < HOUR) return `${Math.round(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.round(whole / HOUR)} h`;
  return `${Math.round(whole / DAY)} days`;
}

/** How long something took: short things to the millisecond. */
export function elapsed(ms: number): string {
  return ms < SECOND ? `${Math.max(0, Math.round(ms))} ms` : duration(ms);
}

/** The time on the clock of this machine, with its date when that is another day. */
export function clockTime(at: number, now: number): string {
  const [day, time] = stamp(at).split(' ');
  const [today] = stamp(now).split(' ');
  const minutes = time?.slice(0, 5);
  return day === today ? `${minutes}` : `${day} ${minutes}`;
}

export function stamp(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * MINUTE);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

export function list(words: readonly string[], max = 5): string {
  const shown = words.slice(0, max).join(', ');
  return words.length > max ? `${shown} and ${words.length - max} more` : shown;
}

/** One line of a text, not too long. */
export function oneLine(text: string, charsMax = 300): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > charsMax ? `${line.slice(0, charsMax - 1)}…` : line;
}

/** `POST to shop`, as the provider would call it; `append to book` where the preview does not begin with the method. */
export function callName({ method, connection, preview }: Mutation): string {
  const loud = method.toUpperCase();
  return `${preview.startsWith(`${loud} `) ? loud : method} to ${connection}`;
}

/** The call as the host saw it, in one line. */
export function callLine({ preview }: Mutation): string {
  return oneLine(preview.split('\n')[0] ?? '', 200);
}

export function eventName({ topic, messageId, title }: Event): string {
  return title === null ? `${topic} ${messageId}` : `${topic} ${messageId} (${oneLine(title, 80)})`;
}

/** What became of a call, for people. */
export function outcomeWords(row: Mutation): string {
  const who = row.resolvedByName ?? 'somebody';
  switch (row.status) {
    case 'pending':
      return row.approvedAt === null ? 'waits for approval' : `approved by ${row.approvedBy}, to be sent`;
    case 'in_flight':
      return 'being sent';
    case 'needs_reconcile':
      return 'checking';
    case 'indeterminate':
      return 'unknown';
    case 'applied':
      if (row.resolvedBy === 'user_assert_applied') return `done, says ${who}`;
      return row.resolvedBy === 'reconcile' ? 'done, as a look-up found' : 'done';
    case 'failed':
      return failureWords(row, who);
  }
}

function failureWords(row: Mutation, who: string): string {
  switch (row.resolvedBy) {
    case 'reconcile':
      return 'not done, as a look-up found';
    case 'user_assert_failed':
      return `not done, says ${who}`;
    case 'user_skip':
      return `skipped by ${who}`;
    case 'user_reject':
      return `rejected by ${who}`;
    case 'expired':
      return 'never approved, expired';
    case 'provider':
    case 'user_assert_applied':
    case null:
      return 'not done';
  }
}

/** Why a run stopped, without its error. */
export function stopWords(run: Run): string {
  switch (run.status) {
    case 'active':
      return 'is running';
    case 'committed':
      return 'committed';
    case 'paused:transient':
      return 'stopped to try again later';
    case 'paused:approval':
      return 'stopped to wait for a person';
    case 'paused:reconciliation':
      return 'stopped: nobody knows whether its call happened';
    case 'failed:logic':
      return 'failed by a mistake in the script';
    case 'failed:internal':
      return 'failed by a fault of the engine or a connector';
    case 'crashed':
      return 'was cut off when its process ended';
    case 'cancelled':
      return 'was cancelled';
  }
}

/** How an event stands, for people. */
export const EVENT_WORDS: Readonly<Record<EventStatus, string>> = {
  pending: 'waiting',
  reserved: 'taken by a run',
  consumed: 'done',
  skipped: 'skipped',
  parked: 'put aside',
};

/** What set something off. */
export const TRIGGER_WORDS: Readonly<Record<Trigger, string>> = {
  manual: 'by hand',
  schedule: 'on schedule',
  webhook: 'by a webhook',
  event: 'by an event',
  retry: 'to try again',
  wake: 'by itself',
};

export const EVIDENCE_WORDS: Readonly<Record<Evidence['says'], string>> = {
  applied: 'it was done',
  failed: 'it was not done',
  uncertain: 'it cannot be told',
};

/** How far a run had come. */
export function phaseWords({ phase }: Pick<Run, 'phase'>): string {
  switch (phase) {
    case 'preparing':
    case 'prepared':
      // `prepare` and `mutate` run as one: the row does not say which of them it was.
      return ' before anything was sent';
    case 'mutating':
      return ' in mutate';
    case 'mutated':
    case 'emitting':
      return ' in next';
    case 'executing':
    case 'committed':
      return '';
  }
}

/** `pool:heavy` with how much of it is taken. */
export function limitWords(name: string, taken: number, max: number | null): string {
  const [kind = '', ...rest] = name.split(':');
  const what = kind === 'connection' ? `sessions that use ${rest.join(':')}` : `sessions of ${kind} ${rest.join(':')}`;
  return max === null ? `${taken} ${what} are under way` : `${taken} of at most ${max} ${what} are under way`;
}
