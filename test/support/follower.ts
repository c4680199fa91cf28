import { type Clock, type IdSource, RefusedError } from '#base';
import { ChangeFeed, CommitQueue, ExecutionModelManager } from '#execution';
import { type Command, Rows } from '#model';
import { readLater, type Store } from '#store';
import { MemoryReader } from './memory-reader.ts';

/** One process at a store: its queue and its manager, without anything that would look for work by itself. */
export class Follower {
  readonly manager: ExecutionModelManager;
  readonly #queue: CommitQueue;
  readonly #store: Store;
  #fatal: unknown;

  constructor(store: Store, clock: Clock, ids: IdSource) {
    this.#store = store;
    const onFatal = (error: unknown) => {
      this.#fatal = error;
    };
    this.#queue = new CommitQueue({ store, clock, ids, changes: new ChangeFeed(), onFatal });
    this.manager = new ExecutionModelManager(this.#queue, readLater(new MemoryReader(() => new Rows())));
  }

  ask(command: Command): Promise<unknown> {
    return this.#queue.submit((step) => step(command));
  }

  async close(): Promise<void> {
    await this.#queue.drained();
    this.#queue.close();
    await this.#store.close();
    if (this.#fatal !== undefined) throw this.#fatal;
  }
}

/** What was answered, or the words of the refusal: what two stores are compared by. Any other error is thrown. */
export async function saidBy(asked: Promise<unknown>): Promise<unknown> {
  try {
    return { reply: await asked };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { code, message, why, next, ids, notBefore } = error;
    return { refused: { code, message, why, next, ids, notBefore } };
  }
}

/** All of them, whatever becomes of each; then the first that failed. */
export async function closeAll(...closers: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) await close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
