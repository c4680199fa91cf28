import type { EventId, RunId } from '#base';
import type { Event, Input, Mutation, Run } from '#model';
import type { Teller } from './teller.ts';

/** What one page of a story follows; an input that caused more is told with what came first. */
const EVENTS_MAX = 1_000;
const INPUTS_OF_EVENT_MAX = 1_000;

type Reads = Pick<Teller, 'history'>;

/** The inputs behind these events, each once, oldest first. */
export function inputsOf({ history }: Reads, events: readonly EventId[]): Input[] {
  const found = new Map<string, Input>();
  for (const event of events.slice(0, EVENTS_MAX)) {
    for (const input of history.inputsOfEvent(event, INPUTS_OF_EVENT_MAX)) found.set(input.id, input);
  }
  return [...found.values()].sort(byId);
}

/** An event that was let go again after a refused call was in one of the last of them. */
const REFUSED_LOOKED_AT = 20;

/**
 * The calls made for an event, also those that were refused before it was tried again. A call is kept by the first of its events,
 * and an event knows the run that has it; one that is free again is looked for among the calls that were refused last.
 */
export function outputsOfEvent(reads: Reads, event: Event): Mutation[] {
  const { history } = reads;
  const own = history.fetch('ledgerOfEvent', event.id);
  const taken = runOf(reads, event.reservedByRunId);
  const last = taken ? history.fetch('ledger', taken.rootRunId) : [];
  const earlier = last.flatMap((row) =>
    row.firstEventId === event.id ? [] : history.fetch('ledgerOfEvent', row.firstEventId),
  );
  const isFree = event.status === 'pending' || event.status === 'parked';
  const refused =
    isFree && own.length === 0
      ? history.mutations(event.workflowId, { status: 'failed', limit: REFUSED_LOOKED_AT })
      : [];
  const found = [...own, ...last, ...earlier, ...refused].filter((row) => row.eventIds.includes(event.id));
  return [...new Map(found.map((row) => [row.id, row])).values()].sort(byId);
}

export function outputsOfEvents(reads: Reads, events: readonly Event[]): Mutation[] {
  const found = events.flatMap((event) => outputsOfEvent(reads, event));
  return [...new Map(found.map((row) => [row.id, row])).values()].sort(byId);
}

/** Everything an input caused: events that `next` published and events done again carry its trail too. */
export function eventsOfInput({ history }: Reads, input: Input): readonly Event[] {
  return history.eventsOfInput(input.id, { limit: EVENTS_MAX });
}

export function runOf({ history }: Reads, run: RunId | null): Run | undefined {
  return run === null ? undefined : history.fetch('run', run)[0];
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
