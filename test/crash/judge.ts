import assert from 'node:assert/strict';
import type { EventId } from '#base';
import type { Event } from '#model';
import type { Reader } from '#store';
import type { Outside } from './outside.ts';
import type { End, Scenario } from './scenario.ts';

/** The promise, at the end of a history: nothing done twice, nothing lost, nothing left open. */
export function judge(reader: Reader, outside: Outside, scenario: Scenario): void {
  const events = reader.table('events');
  const work = events.filter((event) => event.topic !== 'note');
  const ended = new Map(work.map((event) => [nameOf(event, events), event]));
  assert.deepEqual([...ended.keys()].sort(), Object.keys(scenario.ends).sort(), 'an event was lost, or made up');
  for (const [name, end] of Object.entries(scenario.ends)) judgeEvent(name, ended.get(name), end, reader, outside);
  const { answers = ['provider', 'user_assert_applied', 'user_assert_failed'] } = scenario;
  for (const { id, resolvedBy } of reader.table('mutations'))
    assert(resolvedBy !== null && answers.includes(resolvedBy), `${id} was answered by ${resolvedBy}`);
  const done = reader.table('audit_log').map(({ act }) => act);
  for (const act of scenario.acts ?? []) assert(done.includes(act), `nobody had to ${act}`);
  judgeInputs(reader, scenario, work);
  judgeCounts(reader);
}

function nameOf(event: Event, events: readonly Event[]): string {
  const original = events.find(({ id }) => id === event.redoOf);
  return original ? `${original.messageId} again` : event.messageId;
}

function judgeEvent(name: string, event: Event | undefined, end: End, reader: Reader, outside: Outside): void {
  assert(event);
  const effects = outside.effectCountOf(event.id);
  assert(effects <= 1, `${name}: its effect landed ${effects} times, and nobody had said that it did not`);
  assert.equal(event.status, end.status, `${name} ended otherwise`);
  const { effectsMin = 0, effectsMax = 1 } = end;
  assert(effects >= effectsMin && effects <= effectsMax, `${name}: its effect landed ${effects} times`);
  assert.equal(noteCountOf(reader, event.id), end.notes, `${name}: next ran another number of times`);
  judgeKeys(name, event, outside);
}

/** The same call again looks the same to the service, unless the service itself refused it before, and that was heard. */
function judgeKeys(name: string, event: Event, outside: Outside): void {
  const calls = outside.callsFor(event.id);
  for (const [position, { key, params, events }] of calls.entries()) {
    const before = calls[position - 1];
    if (!before || before.params !== params || before.events.join() !== events.join()) continue;
    const mayDiffer = typeof before.ends === 'object';
    assert(mayDiffer || key === before.key, `${name}: the same call went out again under another key`);
  }
}

/** How often a committed `next` ran for an event. */
function noteCountOf(reader: Reader, event: EventId): number {
  const payload = JSON.stringify({ about: event });
  return reader.table('events').filter((note) => note.topic === 'note' && note.payload === payload).length;
}

/** What a producer saw is registered once, however often it had to look, and is the cause of its event. */
function judgeInputs(reader: Reader, scenario: Scenario, work: readonly Event[]): void {
  const deliveries = scenario.arrivals?.flatMap((one) => (one.kind === 'delivery' ? [one.order] : [])) ?? [];
  const expected = [...(scenario.polls ?? []), ...deliveries].sort();
  const inputs = reader.table('inputs');
  assert.deepEqual(inputs.map(({ externalId }) => externalId).sort(), expected, 'an input is missing or there twice');
  const causes = reader.table('event_inputs').map(({ eventId }) => eventId);
  for (const event of work.filter(({ messageId }) => expected.includes(messageId)))
    assert(causes.includes(event.id), `${event.messageId} does not say what caused it`);
  const undone = reader.table('deliveries').filter(({ status }) => status !== 'done');
  assert.deepEqual(undone, [], 'a delivery was accepted and not worked on');
}

/** A handler's state is the count of the runs that gave one: none was saved twice, none was forgotten. */
function judgeCounts(reader: Reader): void {
  const runs = reader.table('handler_runs');
  for (const { handlerName, state } of reader.table('handler_states')) {
    const gave = runs.filter((run) => run.handlerName === handlerName && run.outputState !== null).length;
    assert.equal(Number(state ?? 0), gave, `the state of ${handlerName} is not that of its runs`);
  }
  const produced = runs.filter((run) => run.handlerType === 'producer' && run.status === 'committed');
  const logged = reader.table('run_logs').map(({ runId }) => runId);
  assert.deepEqual(
    logged,
    produced.map(({ id }) => id),
    'what a producer said is not kept with its commit',
  );
  assert(
    runs.every((run) => run.status !== 'active'),
    'a run was left active',
  );
}
