import type { EventId, InputId, RunId } from '#base';
import type { Publish } from '../command.ts';
import type { Draft } from '../draft.ts';
import {
  EVENT_PAYLOAD_CHARS_MAX,
  NAME_CHARS_MAX,
  PUBLISHES_MAX,
  SHOWN_AHEAD_MS_MAX,
  TITLE_CHARS_MAX,
} from '../limits.ts';
import type { Workflow } from '../rows.ts';
import { checkJson, checkKey, checkText, refuse } from './refusal.ts';
import { nextSeq } from './stop.ts';

interface Publishing {
  readonly workflow: Workflow;
  readonly publishes: readonly Publish[];
  /** The topics this publisher declared. */
  readonly topics: readonly string[];
  readonly publisher: string;
  readonly run: RunId | null;
  /** For events that do not name themselves. */
  readonly messageIdAt: (position: number) => string;
  readonly causes: (publish: Publish) => readonly InputId[];
}

/**
 * New events become pending. A message id that exists already names the same event: while it is pending its payload is
 * replaced, keeping its place; once anyone has taken it up, the repeat is ignored.
 */
export function publishAll(draft: Draft, publishing: Publishing): readonly EventId[] {
  const { publishes, workflow } = publishing;
  if (publishes.length > PUBLISHES_MAX) {
    refuse(
      'invalid',
      `${publishing.publisher} publishes ${publishes.length} events at once`,
      `at most ${PUBLISHES_MAX} fit in one run`,
      {
        next: ['publish the rest in the next run'],
      },
    );
  }
  let seq: number | undefined;
  const pendingSeq = () => (seq ??= nextSeq(draft, workflow.id));
  return publishes.map((publish, position) => publishOne(draft, publishing, publish, position, pendingSeq));
}

function publishOne(
  draft: Draft,
  publishing: Publishing,
  publish: Publish,
  position: number,
  pendingSeq: () => number,
): EventId {
  checkPublish(publishing, publish);
  const { workflow, run } = publishing;
  const { topic, payload } = publish;
  const title = publish.title ?? null;
  const messageId = publish.messageId ?? publishing.messageIdAt(position);
  const inputs = publishing.causes(publish);
  const known = draft.one('eventKeyed', workflow.id, topic, messageId);
  if (known && known.status !== 'pending') return known.id;
  if (known && known.payload !== payload) {
    draft.write({ set: 'event.changed', event: known.id, payload, title, pendingSeq: pendingSeq() });
  }
  const id = known?.id ?? (publish.shownAs ? draft.takeId(publish.shownAs.event) : draft.newId('event'));
  if (!known) {
    draft.write({
      set: 'event.published',
      row: {
        id,
        workflowId: workflow.id,
        topic,
        messageId,
        payload,
        title,
        status: 'pending',
        reservedByRunId: null,
        redoOf: null,
        pendingSeq: pendingSeq(),
        publishedByRunId: run,
        createdAt: cameAt(draft, publish),
      },
    });
  }
  addCauses(draft, id, inputs);
  return id;
}

/** What a script was told of it beforehand stays true. */
function cameAt(draft: Draft, { messageId, shownAs }: Publish): number {
  if (shownAs === undefined) return draft.now;
  if (Math.abs(draft.now - shownAs.createdAt) > SHOWN_AHEAD_MS_MAX) {
    refuse('invalid', `event ${messageId} was shown to a script too long before`, 'it says when it came', {
      next: ['publish it by itself'],
    });
  }
  return shownAs.createdAt;
}

function checkPublish(publishing: Publishing, publish: Publish): void {
  if (!publishing.topics.includes(publish.topic)) refuseTopic(publishing, publish.topic);
  if (publish.messageId !== undefined) checkKey('the message id', publish.messageId, NAME_CHARS_MAX);
  if (publish.title != null) checkText('the title', publish.title, TITLE_CHARS_MAX);
  checkJson('the payload', publish.payload, EVENT_PAYLOAD_CHARS_MAX);
}

/** Who wrote a handler can declare the topic; who publishes from outside mistyped it. */
function refuseTopic({ workflow, topics, publisher, run }: Publishing, topic: string): never {
  if (run !== null) {
    return refuse(
      'not-subscribed',
      `${publisher} does not publish to topic ${JSON.stringify(topic)}`,
      `it declares ${topics.join(', ') || 'none'}`,
      {
        next: ['declare the topic in publishes'],
      },
    );
  }
  return refuse(
    'not-subscribed',
    `workflow ${workflow.name} has no topic ${JSON.stringify(topic)}`,
    `its topics are ${topics.join(', ')}`,
    {
      next: [
        { label: 'publish to one of them', argv: ['pawl', 'publish', workflow.name, String(topics[0]), 'PAYLOAD'] },
      ],
      ids: { workflow: workflow.id },
    },
  );
}

export function addCauses(draft: Draft, event: EventId, inputs: readonly InputId[]): void {
  const known = new Set(draft.find('inputsOf', event).map((cause) => cause.inputId));
  const added = [...new Set(inputs)].filter((input) => !known.has(input));
  if (added.length > 0) draft.write({ set: 'event.caused', event, inputs: added });
}

/** The union of what caused these events: the trail of what they lead to. */
export function causesOf(draft: Draft, events: readonly { id: EventId }[]): InputId[] {
  return [...new Set(events.flatMap((event) => draft.find('inputsOf', event.id).map((cause) => cause.inputId)))].sort();
}
