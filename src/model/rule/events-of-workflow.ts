import { assert, type EventId } from '#base';
import { exitIfNoSuspect } from '../decide/exit-maintenance-mode.ts';
import type { Draft } from '../draft.ts';
import { RESERVATIONS_MAX } from '../limits.ts';
import type { Event, Workflow } from '../rows.ts';
import type { EventStatus } from '../states.ts';
import { audit, eventOf, mustBeLive, mustBeNamed, scriptRow, workflowRow } from './find.ts';
import { refuse } from './refusal.ts';
import { settle } from './settle.ts';

/** What every act of a person on a list of events has in common: all of one workflow, all in the right state, or none changes. */
export function changeEvents(
  draft: Draft,
  command: { events: readonly EventId[]; by: string },
  act: string,
  from: readonly EventStatus[],
  change: (event: Event) => void,
): { changed: number } {
  mustBeNamed(command.by);
  checkList(act, command.events);
  const events = command.events.map((id) => eventOf(draft, id));
  const workflow = workflowOfAll(draft, events, act);
  for (const event of events) checkStatus(event, act, from);
  for (const event of events) {
    change(event);
    audit(draft, command.by, act, event.id);
  }
  exitIfNoSuspect(draft, workflow.id, command.by);
  settle(draft, workflow.id, true);
  return { changed: events.length };
}

/** What is to become pending must have a version that reads it, or it would wait for ever and nobody would know. */
export function mustBeRead(draft: Draft, event: Event, act: string): void {
  const workflow = workflowRow(draft, event.workflowId);
  mustBeLive(workflow, `asked to ${act} events`);
  assert(workflow.activeScriptId, `live workflow ${workflow.id} has no active version`);
  if (scriptRow(draft, workflow.activeScriptId).handlers.topics.includes(event.topic)) return;
  refuse(
    'wrong-state',
    `event ${event.id} is of topic ${event.topic}, so you cannot ${act} it`,
    'the active version does not have that topic',
    {
      next: ['deploy a version that has it'],
      ids: { event: event.id, workflow: workflow.id },
    },
  );
}

function checkList(act: string, events: readonly EventId[]): void {
  if (events.length === 0 || events.length > RESERVATIONS_MAX) {
    refuse('invalid', `cannot ${act} ${events.length} events at once`, `it takes 1 to ${RESERVATIONS_MAX}`, {
      next: ['split the list'],
    });
  }
  if (new Set(events).size !== events.length) {
    refuse('invalid', `cannot ${act}: an event is in the list twice`, 'each event is named once', {
      next: ['remove the repeat'],
    });
  }
}

function workflowOfAll(draft: Draft, events: readonly Event[], act: string): Workflow {
  const ids = new Set(events.map((event) => event.workflowId));
  const [id] = ids;
  if (id === undefined || ids.size > 1) {
    refuse('invalid', `cannot ${act} events of ${ids.size} workflows at once`, 'one act concerns one workflow', {
      next: ['split the list'],
    });
  }
  return workflowRow(draft, id);
}

function checkStatus(event: Event, act: string, from: readonly EventStatus[]): void {
  if (from.includes(event.status)) return;
  refuse(
    'wrong-state',
    `event ${event.id} is ${event.status}, so you cannot ${act} it`,
    `only ${from.join(' or ')} events can`,
    {
      next: [{ label: 'see it', argv: ['pawl', 'show', event.id] }],
      ids: { event: event.id },
    },
  );
}
