/**
 * A history: a world as it is founded, and what happens in it that would not happen by itself. Nothing else is left to chance,
 * so that a history can be written down, made smaller, and played again after the code has changed.
 */
export interface History {
  readonly world: WorldSpec;
  readonly decisions: readonly Decision[];
  /** Moments, counted from the first, at which the process dies besides. */
  readonly deaths?: readonly number[];
}

export interface WorldSpec {
  readonly workflows: 1 | 2;
  /** What its handlers are: see `shapes.ts`. */
  readonly shape: Shape;
  /** Events that wait in each workflow when the history begins. */
  readonly orders: number;
  /** How many events a run takes at most. */
  readonly batch: number;
  /** Whether the outcome of a call can be looked up. */
  readonly lookUp: boolean;
  readonly approval: 'never' | 'first' | 'always';
}

export const SHAPES = ['book', 'chain', 'ship', 'note', 'poll'] as const;
export type Shape = (typeof SHAPES)[number];

/** What becomes of one call: the effect, and the answer to it. */
export const CALL_ENDS = [
  'done',
  'timeout, done',
  'timeout, not done',
  '500, done',
  '500, not done',
  '429',
  '400',
  '401',
  '403',
  'unreachable',
  'late answer, done',
  'late answer, refused',
  'lands late, answer lost',
  'breaks down, done',
  'breaks down, not done',
  'breaks down, goes out later',
  'refused, but done',
] as const;
export type CallEnd = (typeof CALL_ENDS)[number];

export const LOOK_UPS = ['truth', 'cannot tell', 'breaks down', 'slow', '401'] as const;
export type LookUp = (typeof LOOK_UPS)[number];

export const READ_ENDS = ['answered', '500', '401', 'slow'] as const;
export type ReadEnd = (typeof READ_ENDS)[number];

/** `lost` is a connection that breaks at COMMIT: what became of the commit only the next process finds out. */
export const COMMIT_FAILS = ['busy', 'disk full', 'lost, written', 'lost, not written'] as const;
export type CommitFail = (typeof COMMIT_FAILS)[number];

export const SCRIPT_PHASES = ['produce', 'prepare', 'mutate', 'next'] as const;
export type ScriptPhase = (typeof SCRIPT_PHASES)[number];
export const SCRIPT_WAYS = ['throws', 'hangs', 'nonsense', 'takes its child down', 'idles', 'does nothing'] as const;
export type ScriptWay = (typeof SCRIPT_WAYS)[number];

export const PERSON_ACTS = [
  'pause',
  'resume',
  'answer',
  'say it happened',
  'say it did not happen',
  'skip call',
  'check again',
  'set aside',
  'approve',
  'reject by skip',
  'reject by park',
  'approve grant',
  'cure connection',
  'skip event',
  'park event',
  'unpark event',
  'redo event',
  'finish without next',
  'cancel',
  'retry',
  'mend',
  'deploy',
  'deploy less',
  'deploy less, skipping',
  'activate older',
  'trigger',
  'publish',
  'publish again, changed',
  'deliver',
] as const;
export type PersonAct = (typeof PERSON_ACTS)[number];

/** What happens; a fault waits for the next place of its kind. */
export type Happening =
  | { readonly do: 'die' }
  | { readonly do: 'lose power' }
  | { readonly do: 'stop' }
  | { readonly do: 'clock'; readonly byMs: number }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'call'; readonly ends: CallEnd }
  | { readonly do: 'look-up'; readonly finds: LookUp }
  | { readonly do: 'read'; readonly ends: ReadEnd }
  | { readonly do: 'commit'; readonly fails: CommitFail; readonly times?: number }
  | { readonly do: 'script'; readonly phase: ScriptPhase; readonly how: ScriptWay; readonly variant?: number }
  | {
      readonly do: 'person';
      readonly act: PersonAct;
      /** Which of the things that could be meant. */
      readonly which?: number;
    };

/** Where something may happen that would not happen by itself. */
export const PLACES = [
  'before-commit',
  'after-commit',
  'before-recovery',
  'after-recovery',
  'a phase begins',
  'the script has peeked',
  'a phase ends',
  'read',
  'before the call',
  'after the call',
  'before the look-up',
  'after the look-up',
  'time passes',
] as const;
export type Place = (typeof PLACES)[number];

/**
 * `after` so many moments since the decision before it, and if it says where, at the next such place. When that does not come
 * for long, or nothing is left that could bring about a moment, it happens anyway.
 */
export type Decision = { readonly after: number; readonly at?: Place } & Happening;
