import type { WorkflowId } from '#base';
import type { Publish, ReplyTo } from '#model';

type Published = ReplyTo<'publishEvents'>;

/** An event that is about to be published. Whoever takes it sees to it that it is, and that its publisher hears of it. */
export interface Arrival {
  readonly publish: Publish;
  readonly by: string;
  /** It is published together with what was made of it. */
  published(reply: Published): void;
  failed(error: unknown): void;
  /** Publishes it by itself. Settled, well or not, when its publisher has been told. */
  publishAlone(): Promise<void>;
}

/** A session that waits, now and then, for the next event of its workflow. */
export interface Taker {
  /** Set while it waits: called once, with what arrives. */
  take: ((arrival: Arrival) => void) | undefined;
}

/**
 * Sessions that stand open with nothing to do. What is published to their workflows is offered to them first: so it is published,
 * reserved and its call recorded in one commit instead of two.
 */
export class Arrivals {
  readonly #takers = new Map<WorkflowId, Taker>();
  /** What was offered and is not published yet. */
  readonly #inHand = new Map<WorkflowId, Promise<unknown>>();

  /** Until the returned function is called. */
  join(workflow: WorkflowId, taker: Taker): () => void {
    this.#takers.set(workflow, taker);
    return () => {
      if (this.#takers.get(workflow) === taker) this.#takers.delete(workflow);
    };
  }

  /**
   * Publishes, together with what a session makes of it where one waits for it. Only what comes alone is offered: of several some might be
   * there already. What comes while something is in a session's hand is published behind it: nobody overtakes anybody.
   */
  publish(
    workflow: WorkflowId,
    publishes: readonly Publish[],
    by: string,
    alone: () => Promise<Published>,
  ): Promise<Published> {
    const inHand = this.#inHand.get(workflow);
    if (inHand !== undefined) return inHand.then(alone, alone);
    const [publish] = publishes;
    const taker = this.#takers.get(workflow);
    if (taker === undefined || publish === undefined || publishes.length > 1) return alone();
    const offered = offer(taker, publish, by, alone);
    this.#inHand.set(workflow, offered);
    const letGo = () => {
      this.#inHand.delete(workflow);
    };
    offered.then(letGo, letGo);
    return offered;
  }
}

function offer(taker: Taker, publish: Publish, by: string, alone: () => Promise<Published>): Promise<Published> {
  const { promise, resolve, reject } = Promise.withResolvers<Published>();
  const publishAlone = () => alone().then(resolve, reject);
  // Not in the same tick: whoever publishes the next event because the one before is done has heard of it before its session waits.
  setImmediate(() => {
    const { take } = taker;
    taker.take = undefined;
    if (take === undefined) void publishAlone();
    else take({ publish, by, published: resolve, failed: reject, publishAlone });
  });
  return promise;
}
