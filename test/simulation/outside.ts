import type { MutationId } from '#base';
import type { Mutation } from '#model';
import type { CallEnd } from './history.ts';
import type { Loop } from './loop.ts';

/** A call as the service saw it. */
export interface Call {
  readonly mutation: MutationId;
  /** The seat of the process that sent it. */
  readonly by: number;
  readonly key: string;
  /** What it is about, as the script names it: the place of each event. */
  readonly events: readonly string[];
  readonly ends: CallEnd;
  /** Until its deadline, when it went out. */
  readonly leftMs: number;
  /** When its effect is there; undefined when it has none. */
  readonly landsAt: number | undefined;
}

/** What a person claimed about a call, and whether they had looked. */
export interface Claim {
  readonly mutation: MutationId;
  readonly says: 'applied' | 'failed';
  readonly isTrue: boolean;
}

/** What a script said at its end: the events it published, the state it gave, and what it had been told of its call. */
export interface Said {
  readonly published: readonly string[];
  readonly state: string;
  readonly told: string | undefined;
}

/** Less than a provider may take to show what it did: see the settings of the connection. */
const LANDS_LATE_MS = 15_000;

/** A call whose end nobody knows may go out until its deadline, and a little after. */
const AFTER_DEADLINE_MS = 25_000;

const LANDS: Readonly<Record<CallEnd, 'at once' | 'late' | 'very late' | 'never'>> = {
  done: 'at once',
  'timeout, done': 'at once',
  'timeout, not done': 'never',
  '500, done': 'at once',
  '500, not done': 'never',
  '429': 'never',
  '400': 'never',
  '401': 'never',
  '403': 'never',
  unreachable: 'never',
  'late answer, done': 'at once',
  'late answer, refused': 'never',
  'lands late, answer lost': 'late',
  'breaks down, done': 'at once',
  'breaks down, not done': 'never',
  'breaks down, goes out later': 'very late',
  'refused, but done': 'at once',
};

/** An answer that reached whoever had asked. */
export interface Heard {
  readonly mutation: MutationId;
  /** Whether that one is gone: then nobody knows how far it came. */
  readonly isGone: () => boolean;
}

/**
 * What no death of the process touches: the effects that landed, what people claimed, and what was promised to senders.
 */
export class Outside {
  readonly calls: Call[] = [];
  readonly claims: Claim[] = [];
  readonly heard: Heard[] = [];
  /** Calls that somebody said yes to. */
  readonly approvals = new Set<MutationId>();
  /** Events and deliveries whose sender was told that they are kept, as `workflow topic message`. */
  readonly accepted = new Set<string>();
  /** What cannot be seen from outside of what scripts did: whose `mutate` made no call, and what the last phase of a run said. */
  readonly uncalled = new Set<string>();
  readonly said = new Map<string, Said>();
  /** By run and event: the payload its script saw. */
  readonly seen = new Map<string, string>();
  readonly #loop: Loop;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** The bytes arrive. */
  receive(call: Omit<Call, 'landsAt'>): void {
    this.calls.push({ ...call, landsAt: this.#landsAt(call) });
  }

  /** The dead send nothing any more: what was not out yet stays where it is, or was out and lands no later than any other. */
  processDied(seat: number): void {
    const latest = this.#loop.elsewhere + LANDS_LATE_MS;
    for (const [position, call] of this.calls.entries()) {
      const isOut = call.by !== seat || call.landsAt === undefined || call.landsAt <= latest;
      if (!isOut) this.calls[position] = { ...call, landsAt: latest };
    }
  }

  /** What a look at the service shows of a call. */
  shows({ id, idempotencyKey }: Pick<Mutation, 'id' | 'idempotencyKey'>): boolean {
    const now = this.#loop.elsewhere;
    const isIt = ({ mutation, key }: Call) => mutation === id || key === idempotencyKey;
    return this.calls.some((call) => isIt(call) && call.landsAt !== undefined && call.landsAt <= now);
  }

  /** Whether this very call had its effect, or is still going to. */
  hasEffect(mutation: MutationId): boolean {
    return this.calls.some((call) => call.mutation === mutation && call.landsAt !== undefined);
  }

  #landsAt({ ends, leftMs }: Pick<Call, 'ends' | 'leftMs'>): number | undefined {
    const how = LANDS[ends];
    if (how === 'never') return undefined;
    const delayMs = { 'at once': 0, late: LANDS_LATE_MS, 'very late': leftMs + AFTER_DEADLINE_MS }[how];
    return this.#loop.elsewhere + delayMs;
  }
}
