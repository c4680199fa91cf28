import type { WorkflowId } from '#base';
import type { Arena } from './arena.ts';

const NAME = 'canary';
/** Between two beats: a quiet workflow, not a second load. */
const REST_MS = 15;
/** The first beats start a child and load the script. */
const WARM_UP = 5;

/** A small honest workflow that works all the while: from publish to commit, through the sandbox, the disk and a call outside. */
export class Canary {
  /** Milliseconds from publish to commit of every beat. */
  readonly beatsMs: number[] = [];
  readonly #arena: Arena;
  readonly #workflow: WorkflowId;
  #isSinging = true;
  #song: Promise<void>;

  private constructor(arena: Arena, workflow: WorkflowId) {
    this.#arena = arena;
    this.#workflow = workflow;
    this.#song = this.#sing();
  }

  static async perch(arena: Arena): Promise<Canary> {
    const canary = new Canary(arena, await arena.deploy(NAME, { next: 'return { last: data.id };' }));
    while (canary.beatsMs.length < WARM_UP) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    canary.beatsMs.length = 0;
    return canary;
  }

  /** Ends the song and gives the beats in order of length. */
  async rest(): Promise<readonly number[]> {
    this.#isSinging = false;
    await this.#song;
    return this.beatsMs.toSorted((a, b) => a - b);
  }

  async #sing(): Promise<void> {
    for (let beat = 0; this.#isSinging; beat++) {
      const startedAt = performance.now();
      await this.#beat(`c${beat}`);
      this.beatsMs.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  }

  async #beat(id: string): Promise<void> {
    const { reader, app } = this.#arena;
    const publishes = [{ topic: 'in', messageId: id, payload: JSON.stringify({ id }) }];
    await app.engine.manager.publishEvents(this.#workflow, publishes, NAME);
    await this.#arena.until(
      `the canary's event ${id} is consumed`,
      () => reader.fetch('eventKeyed', this.#workflow, 'in', id)[0]?.status === 'consumed',
    );
  }
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
