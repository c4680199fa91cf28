import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { EngineProcess } from './engine-process.ts';
import type { Heard, Line } from './line.ts';
import type { World } from './world.ts';

const KINDS = ['delivery', 'publish', 'feed'] as const;

export interface Input {
  readonly id: string;
  readonly workflow: string;
  readonly kind: (typeof KINDS)[number];
}

const PAUSE_MS = 50;
const UNAVAILABLE = 503;

/** Sends until it hears that it was heard, and then never again: what is lost after that is lost for good. */
export class Sender {
  readonly inputs: Input[] = [];
  readonly acknowledged = new Set<Input>();
  /** How often it was told to come back later. */
  refusals = 0;
  /** Answers that nobody should get. */
  readonly surprises: string[] = [];
  readonly #world: World;
  readonly #chance: Chance;
  readonly #deployed = new Set<string>();
  /** Workflows that get another version, and the next one of each. */
  readonly #toDeploy: string[] = [];
  readonly #variants = new Map<string, number>();

  constructor(world: World, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
    this.#toDeploy.push(...world.workflows);
  }

  /** New orders, one for each workflow. */
  add(): void {
    for (const workflow of this.#world.workflows) {
      const id = `o${this.inputs.length + 1}`;
      this.inputs.push({ id, workflow, kind: this.#chance.pick(KINDS) });
    }
  }

  /** Some workflow gets its other version. */
  addDeployment(): void {
    const workflow = this.#chance.pick(this.#world.workflows);
    if (!this.#toDeploy.includes(workflow)) this.#toDeploy.push(workflow);
  }

  /** Talks to this engine for as long as it lives. */
  async talk(line: Line, engine: EngineProcess): Promise<void> {
    while (!engine.isOver) {
      await this.#deployAll(line, engine);
      const waiting = this.inputs.filter(
        (input) => !this.acknowledged.has(input) && this.#deployed.has(input.workflow),
      );
      const results = await Promise.all(waiting.map((input) => this.#send(line, input)));
      if (!engine.isOver && (results.length === 0 || results.includes(false))) await sleep(PAUSE_MS);
    }
  }

  async #deployAll(line: Line, engine: EngineProcess): Promise<void> {
    for (const workflow of [...this.#toDeploy]) {
      if (engine.isOver) return;
      const versions = this.#world.versions(workflow);
      const variant = this.#variants.get(workflow) ?? 0;
      const version = versions[variant % versions.length];
      if (version === undefined) throw new Error(`${workflow} has no version`);
      if (!this.#isHeard(await line.deploy(version), `the deployment of ${workflow}`)) return;
      this.#variants.set(workflow, variant + 1);
      this.#toDeploy.splice(this.#toDeploy.indexOf(workflow), 1);
      this.#deployed.add(workflow);
    }
  }

  async #send(line: Line, input: Input): Promise<boolean> {
    const { kind, workflow, id } = input;
    if (kind === 'feed') await this.#world.service.feed(workflow, id);
    else {
      const heard = kind === 'publish' ? await line.publish(workflow, id) : await line.deliver(workflow, id);
      if (!this.#isHeard(heard, `${kind} ${id} to ${workflow}`)) return false;
    }
    this.acknowledged.add(input);
    return true;
  }

  #isHeard(heard: Heard, what: string): boolean {
    // The store takes no writes now: whoever sends comes back, as the answer says.
    if (heard.kind === 'no' && heard.status === UNAVAILABLE) this.refusals++;
    else if (heard.kind === 'no')
      this.surprises.push(`${what} was answered with ${heard.status}: ${JSON.stringify(heard.body)}`);
    return heard.kind === 'yes';
  }
}
