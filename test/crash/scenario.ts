import type { Call, ErrorClass, EventStatus, Handlers, Resolver } from '#model';
import { SECONDS } from '../support/fixture.ts';

/** What a person mends outside, after which a trouble is over. */
export type Cure = 'repaired' | 'cured' | 'granted' | 'looked at';

/** A handler fails until its cause is mended, or until some time has passed. */
export interface Trouble {
  readonly on: 'prepare' | 'mutate' | 'next' | 'produce';
  readonly handler: string;
  readonly fails: ErrorClass;
  readonly until: Cure | { readonly afterMs: number };
}

/** What becomes of one call: the effect, and the answer to it. */
export type CallEnds =
  | 'done'
  | 'done, answer lost'
  | 'request lost'
  | 'lands late, answer lost'
  | { readonly refused: ErrorClass };

/** Something from outside, sent again until it was acknowledged. */
export type Arrival =
  | { readonly kind: 'publish'; readonly topic: string; readonly messageId: string }
  | { readonly kind: 'delivery'; readonly hook: string; readonly deliveryId: string; readonly order: string };

/** A person does something while a run is at this place, once. */
export interface Interjection {
  readonly while: 'peeked' | 'prepared' | 'in flight' | 'emitting';
  readonly act: 'pause' | 'cancel' | 'skip' | 'park' | 'change' | { readonly publish: string };
}

export interface Person {
  /** How open questions are answered; `truth` looks at the outside world. */
  readonly unknown?: 'truth' | 'skip' | 'set aside, then truth' | 'set aside, then skip' | 'check again';
  /** Answers a question the engine is still looking up. */
  readonly impatient?: boolean;
  /** In the order of the recorded calls; the last one stays. */
  readonly approvals?: readonly ('approve' | 'reject by skip' | 'reject by park' | 'let it expire')[];
  readonly repair?:
    | 'new version'
    | 'exit maintenance'
    | 'try as it is'
    | 'finish without next'
    | 'skip the events'
    | 'park the events';
  readonly parked?: 'leave' | 'unpark' | 'skip';
  readonly redoes?: readonly string[];
  readonly interjects?: readonly Interjection[];
  /** Sets what a handler that never runs remembers. */
  readonly mendsState?: boolean;
  readonly finally?: 'archive';
  /** An answer to a call arrives long after somebody else has given it. */
  readonly reportsLateAnswers?: boolean;
}

/** How an event must end, whatever died on the way. */
export interface End {
  readonly status: EventStatus;
  readonly effectsMin?: number;
  readonly effectsMax?: number;
  /** How often `next` ran for it, as its published note tells. */
  readonly notes: number;
}

export interface Scenario {
  readonly name: string;
  /** Consecutive steps share a commit, or each has its own. */
  readonly commits: 'few' | 'each';
  /** Where the history begins: with the arrivals made, with a workflow that they are made to, or with nothing at all. */
  readonly begins?: 'with its arrivals' | 'with a workflow' | 'with an empty folder';
  readonly handlers?: Handlers;
  readonly arrivals?: readonly Arrival[];
  /** What the scheduled producer publishes; it is due at once. */
  readonly polls?: readonly string[];
  /** How many events one run takes. */
  readonly batch?: number;
  /**
   * For so long, or until there is a whole batch, `prepare` takes nothing: without a result (idle), or with one and no
   * reservations (empty).
   */
  readonly rests?: { readonly how: 'idle' | 'empty'; readonly until: { readonly afterMs: number } | 'a whole batch' };
  readonly troubles?: readonly Trouble[];
  readonly call?: Partial<Call> | 'none';
  /** In the order of the calls; after the last one every call is done. */
  readonly calls?: readonly CallEnds[];
  /** In the order of the look-ups; after the last one every look-up tells the truth. */
  readonly lookUps?: readonly ('truth' | 'cannot tell')[];
  readonly person?: Person;
  /** What a person cannot have been spared, in the words of the audit log. */
  readonly acts?: readonly string[];
  /** Who may have answered for a call; else the provider, or a person who looked. */
  readonly answers?: readonly Resolver[];
  /** By message id; a redone event ends under its own id with ` again`. */
  readonly ends: Readonly<Record<string, End>>;
}

export const DONE: End = { status: 'consumed', effectsMin: 1, effectsMax: 1, notes: 1 };
/** Somebody went on without knowing: it may have happened or not. */
export const SKIPPED: End = { status: 'skipped', notes: 1 };
export const DONE_WITHOUT_CALL: End = { status: 'consumed', effectsMin: 0, effectsMax: 0, notes: 1 };

/** Orders are booked and letters sent, each with a note from `next`; parcels are shipped, without one. Nobody reads the notes. */
export const HANDLERS: Handlers = {
  topics: ['order', 'letter', 'parcel', 'note'],
  producers: [
    { name: 'poll', publishes: ['order'], webhook: false },
    { name: 'hook', publishes: ['order'], webhook: true },
  ],
  consumers: [
    { name: 'book', subscribe: ['order'], publishes: ['note'], hasMutate: true, hasNext: true },
    { name: 'send', subscribe: ['letter'], publishes: ['note'], hasMutate: true, hasNext: true },
    { name: 'ship', subscribe: ['parcel'], publishes: [], hasMutate: true, hasNext: false },
  ],
};

/** The one that all others are until they part from it. */
export function fullCycle(commits: Scenario['commits']): Scenario {
  return { name: `a full cycle in ${commits} commits`, commits, arrivals: [order('o1')], ends: { o1: DONE } };
}

export const VISIBILITY_MS = 10 * SECONDS;

export function order(messageId: string): Arrival {
  return { kind: 'publish', topic: 'order', messageId };
}

export function letter(messageId: string): Arrival {
  return { kind: 'publish', topic: 'letter', messageId };
}

export function parcel(messageId: string): Arrival {
  return { kind: 'publish', topic: 'parcel', messageId };
}
