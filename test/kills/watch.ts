import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { EngineProcess } from './engine-process.ts';
import { duplicates, illnesses, lost, unfinished, unsettled } from './judge.ts';
import { Line } from './line.ts';
import { Person } from './person.ts';
import { Sender } from './sender.ts';
import type { World } from './world.ts';

/** What is wrong, as the outside sees it; all of it is empty where the promise is kept. */
export interface Findings {
  readonly duplicates: readonly string[];
  readonly lost: readonly string[];
  readonly stuck: readonly string[];
  /** Anything else that should not be. */
  readonly problems: readonly string[];
}

/** From the end of all trouble to the last effect: a look-up waits for seconds, a refused call for more. */
const SETTLE_MS_MAX = 90_000;
const LOOK_MS = 100;

/** Whoever has to do with the engines of a world from outside: a sender, a person, and a judge who believes only what happened. */
export class Watch {
  readonly sender: Sender;
  readonly person: Person;
  readonly #world: World;
  readonly #duplicates = new Set<string>();
  readonly #lost = new Set<string>();
  readonly #stuck: string[] = [];
  readonly #problems: string[] = [];
  readonly #left: Promise<boolean>[] = [];

  constructor(world: World, chance: Chance) {
    this.#world = world;
    this.sender = new Sender(world, chance);
    this.person = new Person(world);
  }

  get unfinished(): number {
    return unfinished(this.#world, this.sender).length;
  }

  get findings(): Findings {
    return {
      duplicates: [...this.#duplicates],
      lost: [...this.#lost],
      stuck: this.#stuck,
      problems: [...this.#problems, ...this.sender.surprises, ...this.person.surprises],
    };
  }

  report(problem: string): void {
    this.#problems.push(problem);
  }

  /** Sends to an engine and looks after it for as long as it lives. */
  async accompany(engine: EngineProcess): Promise<void> {
    const url = await engine.ready();
    if (url === undefined) return;
    const line = new Line(url, this.#world);
    await Promise.all([this.sender.talk(line, engine), this.person.lookAfter(engine)]);
  }

  /** After an engine's end: what it did, what it has, and what it left behind. */
  async judge(engine: EngineProcess): Promise<void> {
    this.#left.push(engine.leavesNobody());
    for (const duplicate of duplicates(this.#world, this.sender)) this.#duplicates.add(duplicate);
    // Before the first migration is whole there is no table to ask, and nobody was told anything.
    if (this.sender.acknowledged.size === 0) return;
    for (const input of lost(this.#world, this.sender)) this.#lost.add(input);
    this.#problems.push(...(await illnesses(this.#world)));
  }

  /** The faults stop: what was accepted must now come to its end, with a person who answers what is asked. Ends the engine. */
  async settle(engine = this.#world.start()): Promise<void> {
    await this.#world.service.behave({ answer: 1 });
    const accompanied = this.accompany(engine);
    const until = performance.now() + SETTLE_MS_MAX;
    while (!engine.isOver && !(await this.#isSettled()) && performance.now() < until) await sleep(LOOK_MS);
    if (engine.isOver) this.#problems.push(`the last engine ended by itself: ${engine.said}`);
    else await this.#findStuck(engine);
    const { code } = await engine.end('SIGTERM');
    await accompanied;
    if (code !== 0) this.#problems.push(`asked to end, the last engine ended with ${code}: ${engine.said}`);
    await this.judge(engine);
    const left = await Promise.all(this.#left);
    if (left.includes(false)) this.#problems.push('processes of an engine outlived it');
  }

  async #findStuck(engine: EngineProcess): Promise<void> {
    for (const { kind, id, workflow } of unfinished(this.#world, this.sender))
      this.#stuck.push(`${kind} ${id} of ${workflow} has not come to its end`);
    this.#stuck.push(...(await unsettled(this.#world, this.sender)));
    if (this.#stuck.length === 0) return;
    const { out } = await this.#world.type('status');
    this.#problems.push(`not everything came to its end: ${out}${engine.said}`);
  }

  async #isSettled(): Promise<boolean> {
    if (this.unfinished > 0) return false;
    return (await unsettled(this.#world, this.sender)).length === 0;
  }
}

export function isSound({ duplicates: twice, lost: gone, stuck, problems }: Findings): boolean {
  return [twice, gone, stuck, problems].every(({ length }) => length === 0);
}
