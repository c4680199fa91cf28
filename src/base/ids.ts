import { randomBytes } from 'node:crypto';
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

export interface IdSource {
  next<K extends IdKind>(kind: K): IdOf<K>;
}

const SHAPE = /^([a-z]{2,3})_[0-9A-Za-z]{1,40}$/;

/** The kind an id claims to be by its prefix, or undefined when it has no id's shape at all. */
export function idShapeOf(text: unknown): IdKind | undefined {
  if (typeof text !== 'string') return undefined;
  const prefix = SHAPE.exec(text)?.[1];
  return (Object.keys(ID_PREFIX) as IdKind[]).find((kind) => ID_PREFIX[kind] === prefix);
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARS = 10;
const RANDOM_CHARS = 14;

/**
 * Time first, then random, so that ids sort by creation. Within one source they rise strictly, also inside one millisecond
 * and when the clock steps back: events are ordered by id.
 */
export function monotonicIds(clock: Clock): IdSource {
  let lastMs = 0;
  let random = 0n;
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      const now = clock.now();
      if (now > lastMs) {
        lastMs = now;
        // The top bit stays free, so that counting up within the millisecond cannot overflow.
        random = randomBytes(8).readBigUInt64BE() >> 1n;
      } else {
        random += 1n;
      }
      return `${ID_PREFIX[kind]}_${base32(BigInt(lastMs), TIME_CHARS)}${base32(random, RANDOM_CHARS)}` as IdOf<K>;
    },
  };
}

function base32(value: bigint, length: number): string {
  let text = '';
  for (let rest = value, i = 0; i < length; i++, rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text;
  return text;
}
