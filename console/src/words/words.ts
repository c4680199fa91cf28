import type {
  DeliveryStatus,
  EventStatus,
  ExecutionEnd,
  Input,
  Need,
  Notice,
  OutputStatus,
  Run,
  RunStatus,
  Session,
  Status,
  Trigger,
} from '../api-types.ts';

/** How something feels: the colour and the sign beside its word. */
export type Tone = 'good' | 'busy' | 'ask' | 'bad' | 'calm';

export type Word = readonly [text: string, tone: Tone];

export const EVENT_WORDS: Readonly<Record<EventStatus, Word>> = {
  pending: ['waiting', 'calm'],
  reserved: ['taken by a run', 'busy'],
  parked: ['put aside', 'ask'],
  consumed: ['done', 'good'],
  skipped: ['skipped', 'calm'],
};

export const DELIVERY_WORDS: Readonly<Record<DeliveryStatus, Word>> = {
  pending: ['waiting', 'calm'],
  running: ['being handled', 'busy'],
  failed: ['in the way', 'bad'],
  done: ['done', 'good'],
  skipped: ['skipped', 'calm'],
};

export const RUN_WORDS: Readonly<Record<RunStatus, Word>> = {
  active: ['running', 'busy'],
  committed: ['done', 'good'],
  'paused:transient': ['stopped, will be tried again', 'calm'],
  'paused:approval': ['stopped, waits for a person', 'ask'],
  'paused:reconciliation': ['stopped, outcome unknown', 'ask'],
  'failed:logic': ['failed, needs repair', 'bad'],
  'failed:internal': ['failed inside', 'bad'],
  crashed: ['cut off when its process ended', 'bad'],
  cancelled: ['cancelled', 'calm'],
};

/** Where a run is, or how far it came. */
export const PHASE_WORDS: Readonly<Record<Run['phase'], string>> = {
  executing: 'reading and publishing',
  preparing: 'choosing its events',
  prepared: 'about to make its call',
  mutating: 'making its call',
  mutated: 'its call was made',
  emitting: 'telling what comes next',
  committed: 'committed',
};

/** The words of an output come with it, because they name people; its tone does not. */
export const OUTPUT_TONES: Readonly<Record<OutputStatus, Tone>> = {
  pending: 'ask',
  in_flight: 'busy',
  needs_reconcile: 'busy',
  indeterminate: 'ask',
  applied: 'good',
  failed: 'bad',
};

/** For filters, where no single output is meant. */
export const OUTPUT_WORDS: Readonly<Record<OutputStatus, string>> = {
  applied: 'done',
  failed: 'not done',
  in_flight: 'being sent',
  needs_reconcile: 'checking',
  indeterminate: 'unknown',
  pending: 'waits for approval',
};

export const INPUT_WORDS: Readonly<Record<Input['state'], Word>> = {
  done: ['done', 'good'],
  pending: ['under way', 'busy'],
  waiting: ['waits for a person', 'ask'],
  skipped: ['skipped', 'calm'],
};

export const TRIGGER_WORDS: Readonly<Record<Trigger, string>> = {
  manual: 'by hand',
  schedule: 'on schedule',
  webhook: 'by a webhook',
  event: 'by an event',
  retry: 'to try again',
  wake: 'woke by itself',
};

export const SESSION_WORDS: Readonly<Record<Session['result'], Word>> = {
  '': ['under way', 'busy'],
  completed: ['completed', 'good'],
  failed: ['stopped', 'bad'],
};

const END_WORDS: Readonly<Record<ExecutionEnd, Word>> = {
  completed: ['completed', 'good'],
  failed: ['stopped', 'bad'],
  cancelled: ['cancelled', 'calm'],
  timeout: ['took too long', 'bad'],
  abandoned: ['its process ended', 'bad'],
};

/** How a session came to its end, which says more than whether its runs committed. */
export function sessionWord({ result, end }: Pick<Session, 'result' | 'end'>): Word {
  return end === null ? SESSION_WORDS[result] : END_WORDS[end];
}

/** Why it ended where no run of it says so. */
export function sessionWhy({ error, end }: Pick<Session, 'error' | 'end'>): string | null {
  return error ?? (end === 'timeout' ? 'its time limit was over, and what was left is for another session' : null);
}

/** A workflow in a word; its sentence says the rest. */
export const STANDING_WORDS: Readonly<Record<Status['kind'], Word>> = {
  unknown: ['needs you', 'ask'],
  approval: ['needs you', 'ask'],
  connection: ['needs you', 'ask'],
  evidence: ['needs you', 'ask'],
  error: ['stopped', 'bad'],
  repair: ['needs repair', 'bad'],
  checking: ['checking', 'busy'],
  running: ['running', 'busy'],
  cancelling: ['being cancelled', 'busy'],
  due: ['about to run', 'busy'],
  retrying: ['trying again', 'calm'],
  paused: ['paused', 'calm'],
  limited: ['waiting for room', 'calm'],
  worker: ['waiting for a worker', 'calm'],
  quiet: ['waiting', 'calm'],
  idle: ['idle', 'good'],
  draft: ['no version yet', 'calm'],
  ready: ['not active', 'calm'],
  archived: ['archived', 'calm'],
};

/** For filters: why a workflow stands as it does. */
export const KIND_WORDS: Readonly<Record<Status['kind'], string>> = {
  unknown: 'an outcome is unknown',
  approval: 'waits for approval',
  connection: 'a connection is refused',
  evidence: 'two stories of one call',
  error: 'stopped by an error',
  repair: 'needs repair',
  checking: 'checking an outcome',
  running: 'running',
  cancelling: 'being cancelled',
  due: 'about to run',
  retrying: 'trying again',
  paused: 'paused',
  limited: 'waits for room',
  worker: 'waits for a worker',
  quiet: 'waits for a trigger',
  idle: 'idle',
  draft: 'no version yet',
  ready: 'not active',
  archived: 'archived',
};

export const NEED_WORDS: Readonly<Record<Need['kind'], Word>> = {
  unknown: ['Outcome unknown', 'ask'],
  approval: ['Waits for approval', 'ask'],
  connection: ['Connection refused', 'bad'],
  repair: ['Needs repair', 'bad'],
  error: ['Stopped', 'bad'],
  evidence: ['Two stories', 'bad'],
  permission: ['Asks for more', 'ask'],
};

export const NOTICE_WORDS: Readonly<Record<Notice['status'], Word>> = {
  due: ['waits to be sent', 'busy'],
  sent: ['told', 'good'],
  given_up: ['given up', 'bad'],
};

/** What a filter offers: each state by its word. */
export function choicesOf(words: Readonly<Record<string, Word>>): (readonly [value: string, text: string])[] {
  return Object.entries(words).map(([value, [text]]) => [value, text]);
}

/** The kind of a case, as a notice names it. */
export function kindWords(kind: string): string {
  if (kind === 'retrying') return 'No answer for an hour';
  return NEED_WORDS[kind as keyof typeof NEED_WORDS]?.[0] ?? kind;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
