import type { Clock, EventId } from '#base';
import type { Mutation } from '#model';
import type { CallEnds, Cure, Scenario, Trouble } from './scenario.ts';
import { VISIBILITY_MS } from './scenario.ts';

/** A call as the service saw it. */
interface Call {
  readonly events: readonly EventId[];
  readonly params: string;
  readonly key: string;
  readonly ends: CallEnds;
  /** When its effect is there, if it has one. */
  readonly landsAt: number | undefined;
}

/** The morning of every history. */
const START = 1_700_000_000_000;

/**
 * What no death of the process touches: time, the effects that landed, how services behave, and what their senders and persons
 * remember. A death in the middle of a history goes on with a copy of it.
 */
export class Outside implements Clock {
  #now = START;
  #calls: Call[] = [];
  #lookUps = 0;
  #mended = new Set<Cure>();
  #acknowledged = new Set<string>();
  /** Rises with everything that happens out here but the passing of time: a process comes back some time later anyway. */
  changes = 0;

  copy(): Outside {
    const copy = new Outside();
    copy.#now = this.#now;
    copy.#calls = [...this.#calls];
    copy.#lookUps = this.#lookUps;
    copy.#mended = new Set(this.#mended);
    copy.#acknowledged = new Set(this.#acknowledged);
    copy.changes = this.changes;
    return copy;
  }

  now(): number {
    return this.#now;
  }

  waitUntil(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  isStruck(trouble: Trouble): boolean {
    return typeof trouble.until === 'string'
      ? !this.#mended.has(trouble.until)
      : !this.hasPassed(trouble.until.afterMs);
  }

  hasPassed(ms: number): boolean {
    return this.#now >= START + ms;
  }

  mend(cure: Cure): void {
    if (this.#mended.has(cure)) return;
    this.#mended.add(cure);
    this.changes++;
  }

  isAcknowledged(what: string): boolean {
    return this.#acknowledged.has(what);
  }

  acknowledge(what: string): void {
    this.#acknowledged.add(what);
    this.changes++;
  }

  /** The bytes go out. What comes back is for the caller to judge. */
  call(scenario: Scenario, mutation: Mutation): CallEnds {
    const ends = scenario.calls?.[this.#calls.length] ?? 'done';
    const { eventIds: events, params, idempotencyKey: key } = mutation;
    this.#calls.push({ events, params, key, ends, landsAt: this.#landsAt(ends) });
    this.changes++;
    return ends;
  }

  /** What a look at the service finds out about a call. */
  lookUp(scenario: Scenario, mutation: Mutation): boolean | 'cannot tell' {
    const finds = scenario.lookUps?.[this.#lookUps] ?? 'truth';
    this.#lookUps++;
    this.changes++;
    return finds === 'truth' ? this.hasLanded(mutation) : finds;
  }

  hasLanded(mutation: Mutation): boolean {
    const isThere = ({ landsAt }: Call) => landsAt !== undefined && landsAt <= this.#now;
    return mutation.eventIds.some((event) => this.callsFor(event).some(isThere));
  }

  /** Also those still on their way. */
  effectCountOf(event: EventId): number {
    return this.callsFor(event).filter(({ landsAt }) => landsAt !== undefined).length;
  }

  /** In the order they went out. */
  callsFor(event: EventId): readonly Call[] {
    return this.#calls.filter(({ events }) => events.includes(event));
  }

  #landsAt(ends: CallEnds): number | undefined {
    if (ends === 'lands late, answer lost') return this.#now + VISIBILITY_MS;
    return ends === 'done' || ends === 'done, answer lost' ? this.#now : undefined;
  }
}
