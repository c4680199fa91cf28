import type { InputStory, OutputStory } from '#story';
import type { Client } from '../client.ts';
import { EngineUnreachableError } from '../engine-errors.ts';
import type { Storyteller } from './storyteller.ts';

const LOOK_MS = 60;
const ROWS_MAX = 200;

/** Tells each input and each step of an output once, as the engine reports it; also across its death. */
export class Watch {
  readonly #tell: Storyteller;
  readonly #client: () => Client | undefined;
  readonly #known = new Map<string, string>();
  readonly #states = new Map<string, InputStory['state']>();
  #ended = false;

  constructor(tell: Storyteller, client: () => Client | undefined) {
    this.#tell = tell;
    this.#client = client;
  }

  /** How many inputs have come to an end. */
  get done(): number {
    return [...this.#states.values()].filter((state) => state === 'done').length;
  }

  /** Looks until it is told to end, or until this is true. */
  async until(isEnough: () => boolean | Promise<boolean>): Promise<void> {
    while (!this.#ended) {
      await this.look();
      if (await isEnough()) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  end(): void {
    this.#ended = true;
  }

  async look(): Promise<void> {
    const client = this.#client();
    if (!client) return;
    try {
      const limit = ROWS_MAX;
      const inputs = await client.get<{ items: InputStory[] }>('/api/workflows/orders/inputs', { limit });
      const outputs = await client.get<{ items: OutputStory[] }>('/api/workflows/orders/outputs', { limit });
      for (const input of inputs.items.reverse()) this.#input(input);
      for (const output of outputs.items.reverse()) this.#output(output);
    } catch (error) {
      // It is dead, or not yet born: there is nothing to tell.
      if (!(error instanceof EngineUnreachableError)) throw error;
    }
  }

  #input({ id, title, state }: InputStory): void {
    this.#states.set(id, state);
    if (this.#known.has(id)) return;
    this.#known.set(id, state);
    this.#tell.input(title);
  }

  #output(output: OutputStory): void {
    if (this.#known.get(output.id) === output.status) return;
    this.#known.set(output.id, output.status);
    this.#tell.output(output);
  }
}
