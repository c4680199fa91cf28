import type { Event, Fence } from '#model';
import type { Interjection } from './scenario.ts';
import { ADA, inOneCommit, payloadOf, type Stage, View } from './stage.ts';

/** Somebody does something while a run is under way. Once: whether it was done is in the database, nowhere else. */
export async function interject(
  stage: Stage,
  fence: Fence,
  place: Interjection['while'],
  events: readonly Event[],
): Promise<void> {
  for (const interjection of stage.scenario.person?.interjects ?? []) {
    if (interjection.while === place) await act(stage, fence, interjection.act, events);
  }
}

/** What a run sees next may be there already when it looks. */
async function publish(stage: Stage, messageId: string): Promise<void> {
  const view = new View(stage);
  if (view.events().some((event) => event.messageId === messageId)) return;
  const event = { topic: 'order', messageId, payload: payloadOf(messageId) };
  await inOneCommit(stage, (model) => model.publishEvents(view.workflow().id, [event], ADA));
}

async function act(stage: Stage, fence: Fence, what: Interjection['act'], events: readonly Event[]): Promise<void> {
  const view = new View(stage);
  const { id } = view.workflow();
  const [first] = events;
  if (typeof what === 'object') return publish(stage, what.publish);
  switch (what) {
    case 'pause':
      if (!view.hasDone('pause')) await inOneCommit(stage, (model) => model.pauseWorkflow(id, ADA));
      return;
    case 'cancel':
      if (!view.hasDone('cancel')) await inOneCommit(stage, (model) => model.cancelExecution(fence.execution, ADA));
      return;
    case 'skip':
      if (first && !view.hasDone('skip')) await inOneCommit(stage, (model) => model.skipEvents([first.id], ADA));
      return;
    case 'park':
      if (first && !view.hasDone('park')) await inOneCommit(stage, (model) => model.parkEvents([first.id], ADA));
      return;
    case 'change': {
      if (!first || first.payload.includes('changed')) return;
      const changed = { topic: first.topic, messageId: first.messageId, payload: '{"changed":true}' };
      await inOneCommit(stage, (model) => model.publishEvents(id, [changed], ADA));
    }
  }
}
