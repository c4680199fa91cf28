import type { MutationId } from '#base';
import type { Mutation } from '#model';
import type { CallEnd } from './history.ts';
import type { Loop } from './loop.ts';

/** A call as the service saw it. */
export interface Call {
  readonly mutation: MutationId;
  readonly key: string;
  /** What it is about, as the script names it: the place of each event. */
  readonly events: readonly string[];
  readonly ends: CallEnd;
  /** When its effect is there; undefined when it has none. */
  readonly landsAt: number | undefined;
}

/** What a person claimed about a call, and whether they had looked. */
export interface Claim {
  readonly mutation: MutationId;
  readonly says: 'applied' | 'failed';
  readonly isTrue: boolean;
}

/** Less than a provider may take to show what it did: see the settings of the connection. */
const LANDS_LATE_MS = 15_000;

const LANDS: Readonly<Record<CallEnd, 'at once' | 'late' | 'never'>> = {
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
  'refused, but done': 'at once',
};

/**
 * What no death of the process touches: the effects that landed, what people claimed, and what was promised to senders.
 */
export class Outside {
  readonly calls: Call[] = [];
  readonly claims: Claim[] = [];
  /** Events and deliveries whose sender was told that they are kept, as `workflow topic message`. */
  readonly accepted = new Set<string>();
  /** What each run's script did that cannot be seen from outside: the runs whose `mutate` made no call, and what `next` published. */
  readonly uncalled = new Set<string>();
  readonly published = new Map<string, readonly string[]>();
  readonly #loop: Loop;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** The bytes arrive. */
  receive(call: Omit<Call, 'landsAt'>): void {
    this.calls.push({ ...call, landsAt: this.#landsAt(call.ends) });
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

  #landsAt(ends: CallEnd): number | undefined {
    const how = LANDS[ends];
    if (how === 'never') return undefined;
    return this.#loop.elsewhere + (how === 'late' ? LANDS_LATE_MS : 0);
  }
}
