import type { EventId, RunId } from '#base';
import type { Event, Input, Mutation, Run } from '#model';
import type { Teller } from './teller.ts';

/** What one page of a story follows; an input that caused more is told with what came first. */
const EVENTS_MAX = 1_000;
const INPUTS_OF_EVENT_MAX = 1_000;

type Reads = Pick<Teller, 'history'>;

/** The inputs behind these events, each once, oldest first. */
export async function inputsOf({ history }: Reads, events: readonly EventId[]): Promise<Input[]> {
  const found = new Map<string, Input>();
  for (const event of events.slice(0, EVENTS_MAX)) {
    for (const input of await history.inputsOfEvent(event, INPUTS_OF_EVENT_MAX)) found.set(input.id, input);
  }
  return [...found.values()].sort(byId);
}

/** An event that was let go again after a refused call was in one of the last of them. */
const REFUSED_LOOKED_AT = 20;

/**
 * The calls made for an event, also those that were refused before it was tried again. A call is kept by the first of its events,
 * and an event knows the run that has it; one that is free again is looked for among the calls that were refused last.
 */
export async function outputsOfEvent(reads: Reads, event: Event): Promise<Mutation[]> {
  const { history } = reads;
  const own = await history.fetch('ledgerOfEvent', event.id);
  const taken = await runOf(reads, event.reservedByRunId);
  const last = taken ? await history.fetch('ledger', taken.rootRunId) : [];
  const earlier = (
    await Promise.all(
      last.map(async (row) =>
        row.firstEventId === event.id ? [] : await history.fetch('ledgerOfEvent', row.firstEventId),
      ),
    )
  ).flat();
  const isFree = event.status === 'pending' || event.status === 'parked';
  const refused =
    isFree && own.length === 0
      ? await history.mutations(event.workflowId, { status: 'failed', limit: REFUSED_LOOKED_AT })
      : [];
  const found = [...own, ...last, ...earlier, ...refused].filter((row) => row.eventIds.includes(event.id));
  return [...new Map(found.map((row) => [row.id, row])).values()].sort(byId);
}

export async function outputsOfEvents(reads: Reads, events: readonly Event[]): Promise<Mutation[]> {
  const found = (await Promise.all(events.map((event) => outputsOfEvent(reads, event)))).flat();
  return [...new Map(found.map((row) => [row.id, row])).values()].sort(byId);
}

/** Everything an input caused: events that `next` published and events done again carry its trail too. */
export async function eventsOfInput({ history }: Reads, input: Input): Promise<readonly Event[]> {
  return history.eventsOfInput(input.id, { limit: EVENTS_MAX });
}

export async function runOf({ history }: Reads, run: RunId | null): Promise<Run | undefined> {
  return run === null ? undefined : (await history.fetch('run', run))[0];
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
