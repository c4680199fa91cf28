import type { InputId, MutationId, WorkflowId } from '#base';
import type { Event, EventStatus, Input, Mutation, MutationStatus } from '#model';
import type { Teller } from './teller.ts';
import { eventsOfInput, outputsOfEvents, runOf } from './trail.ts';
import { newestFirst, versionName } from './versions.ts';
import { count, outcomeWords } from './words.ts';

/** `waiting` means for a person: a question, an approval, a repair, or an event that was parked. */
type InputState = 'done' | 'pending' | 'skipped' | 'waiting';

export interface InputStory {
  readonly id: InputId;
  readonly workflow: WorkflowId;
  readonly name: string;
  readonly source: string;
  readonly type: string;
  readonly externalId: string;
  readonly title: string;
  readonly createdAt: number;
  readonly state: InputState;
  readonly sentence: string;
  /** Those that took it in, worked on what it caused or made a call for it, by their numbers, oldest first. */
  readonly versions: readonly string[];
  readonly events: Readonly<Record<EventStatus, number>>;
  readonly outputs: readonly {
    readonly id: MutationId;
    readonly title: string | null;
    readonly status: MutationStatus;
    readonly words: string;
  }[];
}

export async function inputStory(teller: Pick<Teller, 'history'>, input: Input): Promise<InputStory> {
  const events = await eventsOfInput(teller, input);
  const outputs = await outputsOfEvents(teller, events);
  const flags = await Promise.all(events.map((event) => isRead(teller, event)));
  const read = events.filter((_, i) => flags[i]);
  const state = await stateOf(teller, read);
  const { id, workflowId, source, type, externalId, title, createdAt } = input;
  return {
    id,
    workflow: workflowId,
    name: (await teller.history.fetch('workflow', workflowId))[0]?.name ?? '',
    source,
    type,
    externalId,
    title,
    createdAt,
    state,
    sentence: sentenceOf(state, read, outputs.map(outcomeWords)),
    versions: await versionsOf(teller, events, outputs),
    events: countByStatus(events),
    outputs: outputs.map((row) => ({ id: row.id, title: row.uiTitle, status: row.status, words: outcomeWords(row) })),
  };
}

async function versionsOf(
  teller: Pick<Teller, 'history'>,
  events: readonly Event[],
  outputs: readonly Mutation[],
): Promise<string[]> {
  const runs = new Set(events.flatMap(({ publishedByRunId, reservedByRunId }) => [publishedByRunId, reservedByRunId]));
  const worked = await Promise.all([...runs].map((run) => runOf(teller, run)));
  const ids = new Set([...worked.flatMap((run) => (run ? [run.scriptId] : [])), ...outputs.map((row) => row.scriptId)]);
  const scripts = (await Promise.all([...ids].map((id) => teller.history.fetch('script', id)))).flat();
  return scripts.sort(newestFirst).toReversed().map(versionName);
}

/** Events that nobody reads are a record of what happened: they keep no input open. */
async function isRead({ history }: Pick<Teller, 'history'>, event: Event): Promise<boolean> {
  if (event.status !== 'pending') return true;
  const active = (await history.fetch('workflow', event.workflowId))[0]?.activeScriptId;
  const consumers = active ? ((await history.fetch('script', active))[0]?.handlers.consumers ?? []) : [];
  return consumers.some((consumer) => consumer.subscribe.includes(event.topic));
}

async function stateOf(teller: Pick<Teller, 'history'>, events: readonly Event[]): Promise<InputState> {
  const isStuck = async (event: Event): Promise<boolean> =>
    event.status === 'parked' ||
    (event.status === 'reserved' && (await runOf(teller, event.reservedByRunId))?.status !== 'active');
  if ((await Promise.all(events.map(isStuck))).includes(true)) return 'waiting';
  if (events.some((event) => event.status === 'pending' || event.status === 'reserved')) return 'pending';
  // What was done again counts as what became of the repeat.
  const redone = new Set(events.map((event) => event.redoOf));
  return events.some((event) => event.status === 'skipped' && !redone.has(event.id)) ? 'skipped' : 'done';
}

function sentenceOf(state: InputState, events: readonly Event[], outcomes: readonly string[]): string {
  if (events.length === 0) return 'done: nothing was to be done for it';
  const outputs = outcomes.length === 0 ? 'no output' : `${count(outcomes.length, 'output')}: ${outcomes.join('; ')}`;
  return `${state}: ${count(events.length, 'event')}, ${outputs}`;
}

function countByStatus(events: readonly Event[]): Record<EventStatus, number> {
  const counts = { pending: 0, reserved: 0, consumed: 0, skipped: 0, parked: 0 };
  for (const { status } of events) counts[status]++;
  return counts;
}
