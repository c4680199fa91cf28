import { RefusedError, StoreFailedError, StoreUnavailableError } from '#base';
import type { Arrival } from '#execution';
import { goOn, type HandlerHost, type Moved, prepareFirst, type SeenEvent } from '#handler';
import type { Begun } from './run-session.ts';

/**
 * The next run of a session of an event that is published in the same commit, with its call recorded. Undefined where its script did
 * not make a call of it in a moment, or the commit was refused: then the event is still to be published.
 */
export async function takeArrival(
  host: HandlerHost,
  { workflow, fence }: Pick<Begun, 'workflow' | 'fence'>,
  arrival: Arrival,
): Promise<Moved | undefined> {
  const event = shownAhead(host, arrival);
  const { id, messageId, createdAt } = event;
  const publish = { ...arrival.publish, messageId, shownAs: { event: id, createdAt } };
  const ahead = await prepareFirst(host, workflow, event);
  if (ahead === undefined) return undefined;
  let moved: Moved | undefined;
  try {
    const done = await host.engine.manager.together((model) => {
      const reply = model.publishEvents(workflow, [publish], arrival.by);
      return { reply, moved: goOn(host, model, fence, ahead) };
    });
    moved = done.moved;
    arrival.published(done.reply);
    return moved;
  } catch (error) {
    if (error instanceof RefusedError && error.code !== 'fenced') return undefined;
    if (error instanceof StoreUnavailableError || error instanceof StoreFailedError) arrival.failed(error);
    // Whatever is wrong with the session, or whoever has it now, nothing is wrong with the event.
    else await arrival.publishAlone();
    throw error;
  } finally {
    if (moved === undefined || !('run' in moved) || moved.sent === undefined) ahead.slot.giveBack();
  }
}

function shownAhead({ engine, clock }: HandlerHost, { publish }: Arrival): SeenEvent {
  const { topic, payload } = publish;
  const id = engine.ids.next('event');
  const messageId = publish.messageId ?? `${id}:0`;
  return { id, topic, messageId, payload, status: 'pending', createdAt: clock.now(), pendingSeq: undefined };
}
