/**
 * A history: a world as it is founded, and what happens in it that would not happen by itself. Nothing else is left to chance,
 * so that a history can be written down, made smaller, and played again after the code has changed.
 */
export interface History {
  readonly world: WorldSpec;
  readonly decisions: readonly Decision[];
  /** Moments, counted from the first, at which the process dies besides. */
  readonly deaths?: readonly number[];
  /** The same for a process that freezes for longer than its lease, and wakes. */
  readonly freezes?: readonly number[];
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
  /** Several processes at one database; otherwise there is one, by itself. */
  readonly fleet?: FleetSpec;
}

export type Role = 'executor' | 'worker' | 'both';

/** Who works together. */
export const CREWS = {
  'two workers': ['executor', 'worker', 'worker'],
  'two executors': ['executor', 'executor', 'worker', 'worker'],
  'three workers': ['executor', 'worker', 'worker', 'worker'],
  'two of both': ['both', 'both'],
} as const satisfies Record<string, readonly Role[]>;
export type CrewName = keyof typeof CREWS;

export interface FleetSpec {
  readonly crew: CrewName;
  /** Whether a session may take only so long. */
  readonly hasTimeout: boolean;
}

export const SHAPES = ['book', 'chain', 'ship', 'note', 'poll', 'fetch'] as const;
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

/**
 * `lost` is a connection that breaks at COMMIT: what became of the commit only the next process finds out. `read-only half-way` is a
 * file system that takes no more writes when some of a transaction have been made: the same connection must go on after it.
 */
export const COMMIT_FAILS = ['busy', 'disk full', 'read-only half-way', 'lost, written', 'lost, not written'] as const;
/** What only a database that others write to does: the answer is long on its way, or rows are in somebody else's hands. */
export const SHARED_COMMIT_FAILS = ['answered late', 'deferred'] as const;
export type CommitFail = (typeof COMMIT_FAILS)[number] | (typeof SHARED_COMMIT_FAILS)[number];

/** What becomes of a call from one process to the others. */
export const MESSAGE_ENDS = ['lost', 'twice', 'late', 'overtaken'] as const;
export type MessageEnd = (typeof MESSAGE_ENDS)[number];

/** How a worker sees what was handed off: also what others have taken long ago, nothing of it for once, or as it was long before. */
export const HAND_OFF_VIEWS = ['again', 'not yet', 'late'] as const;
export type HandOffView = (typeof HAND_OFF_VIEWS)[number];

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
  'remove history',
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
  /** A process among several: it does nothing for so long, or nothing of the database's comes through to it. */
  | { readonly do: 'freeze'; readonly ms: number }
  | { readonly do: 'cut off'; readonly ms: number }
  | { readonly do: 'message'; readonly goes: MessageEnd }
  /** What somebody reads next is as it was so long ago. */
  | { readonly do: 'lag'; readonly ms: number }
  | { readonly do: 'hand-off'; readonly seen: HandOffView }
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
  /** Of a process among several, on the way to the database: what it is told there is decided when it arrives. */
  'to the database',
  'time passes',
] as const;
export type Place = (typeof PLACES)[number];

/**
 * `after` so many moments since the decision before it, and if it says where, at the next such place. When that does not come
 * for long, or nothing is left that could bring about a moment, it happens anyway.
 */
export type Decision = {
  readonly after: number;
  readonly at?: Place;
  /** Which of several processes it happens to; whoever is there when nobody is named. */
  readonly who?: number;
} & Happening;
