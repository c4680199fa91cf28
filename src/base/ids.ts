import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

/** What an id names, and the letters it begins with. The prefix lets a person, and a refusal, tell a run from an event. */
export const ID_PREFIX = {
  workflow: 'wf',
  script: 'scr',
  enforcement: 'enf',
  execution: 'exe',
  session: 'ses',
  run: 'run',
  event: 'evt',
  mutation: 'mut',
  input: 'inp',
  delivery: 'dlv',
  message: 'msg',
  task: 'tsk',
  worker: 'wrk',
  evidence: 'evd',
  token: 'tok',
  allowance: 'alw',
  permissionRequest: 'req',
  notice: 'ntc',
} as const;

export type IdKind = keyof typeof ID_PREFIX;
export type IdOf<K extends IdKind> = string & { readonly kind: K };

export type WorkflowId = IdOf<'workflow'>;
export type ScriptId = IdOf<'script'>;
export type EnforcementId = IdOf<'enforcement'>;
export type ExecutionId = IdOf<'execution'>;
export type SessionId = IdOf<'session'>;
export type RunId = IdOf<'run'>;
export type EventId = IdOf<'event'>;
export type MutationId = IdOf<'mutation'>;
export type InputId = IdOf<'input'>;
export type DeliveryId = IdOf<'delivery'>;
export type MessageId = IdOf<'message'>;
export type TaskId = IdOf<'task'>;
export type WorkerId = IdOf<'worker'>;
export type EvidenceId = IdOf<'evidence'>;
export type TokenId = IdOf<'token'>;
export type AllowanceId = IdOf<'allowance'>;
export type PermissionRequestId = IdOf<'permissionRequest'>;
export type NoticeId = IdOf<'notice'>;

export interface IdSource {
  next<K extends IdKind>(kind: K): IdOf<K>;
}

const SHAPE = /^[a-z]{2,3}_[0-9A-Za-z]{1,40}$/;

/** The kind an id claims to be by its prefix, or undefined when it has no id's shape at all. */
export function idShapeOf(text: unknown): IdKind | undefined {
  if (typeof text !== 'string') return undefined;
  return SHAPE.test(text) ? KIND_OF_PREFIX.get(text.slice(0, text.indexOf('_'))) : undefined;
}

const KIND_OF_PREFIX = new Map(
  (Object.keys(ID_PREFIX) as IdKind[]).map((kind): [string, IdKind] => [ID_PREFIX[kind], kind]),
);

const SHAPE_OF = Object.fromEntries(
  Object.entries(ID_PREFIX).map(([kind, prefix]) => [kind, new RegExp(`^${prefix}_[0-9A-Za-z]{1,40}$`)]),
) as { readonly [K in IdKind]: RegExp };

/** Whether it looks like an id of this kind. */
export function hasShapeOf(kind: IdKind, text: unknown): boolean {
  return typeof text === 'string' && SHAPE_OF[kind].test(text);
}

/** When it was made; undefined of an id that another source made. */
export function idTimeOf(id: string): number | undefined {
  const [, chars] = TIMED.exec(id) ?? [];
  if (chars === undefined) return undefined;
  return [...chars].reduce((ms, char) => ms * ALPHABET.length + ALPHABET.indexOf(char), 0);
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARS = 10;
/** Each half of the random part: 35 bits, which a number holds exactly. */
const HALF_CHARS = 7;
const HALF = 2 ** 35;
/** Chance is asked for in blocks, each part of which is used once: to ask takes longer than to fill one. */
const RANDOM_BYTES = 10;
const RANDOM_BLOCK = 400 * RANDOM_BYTES;
const TIMED = new RegExp(`^[a-z]{2,3}_([${ALPHABET}]{${TIME_CHARS}})[${ALPHABET}]{${2 * HALF_CHARS}}$`);

/**
 * Time first, then random, so that ids sort by creation. Within one source they rise strictly, also inside one millisecond
 * and when the clock steps back: events are ordered by id.
 */
export function monotonicIds(clock: Clock): IdSource {
  let lastMs = 0;
  let time = '';
  let high = '';
  let low = 0;
  const random = Buffer.alloc(RANDOM_BLOCK);
  let used = RANDOM_BLOCK;
  const startOver = (ms: number): void => {
    lastMs = ms;
    time = base32(ms, TIME_CHARS);
    if (used === RANDOM_BLOCK) {
      randomFillSync(random);
      used = 0;
    }
    high = base32(random.readUIntBE(used, 5) % HALF, HALF_CHARS);
    // The upper quarter stays free: there is room to count up for billions of ids within one millisecond.
    low = Math.floor((random.readUIntBE(used + 5, 5) % HALF) * 0.75);
    used += RANDOM_BYTES;
  };
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      const now = clock.now();
      if (now > lastMs) startOver(now);
      else low += 1;
      return `${ID_PREFIX[kind]}_${time}${high}${base32(low, HALF_CHARS)}` as IdOf<K>;
    },
  };
}

/** Not an id, but a place among them: every id of this kind made at that time or later is greater. */
export function idPlaceAt(kind: IdKind, ms: number): string {
  return `${ID_PREFIX[kind]}_${base32(Math.max(0, Math.floor(ms)), TIME_CHARS)}`;
}

function base32(value: number, length: number): string {
  let text = '';
  for (let rest = value, i = 0; i < length; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
