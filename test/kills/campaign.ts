import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from './chance.ts';
import { type Death, deathName, deathsOf } from './deaths.ts';
import type { EngineProcess } from './engine-process.ts';
import type { Person } from './person.ts';
import { type Findings, isSound, Watch } from './watch.ts';
import { World } from './world.ts';

export interface CampaignOptions {
  readonly seed: number;
  readonly kills: number;
  readonly pairs: number;
  /** Told after every death. */
  readonly onDeath?: (line: string) => void;
}

/** What the outside saw of one folder through all its engines. */
export interface Verdict extends Findings {
  /** Engines that died by SIGKILL, by how. */
  readonly deaths: ReadonlyMap<string, number>;
  readonly inputs: number;
  readonly effects: number;
  readonly answers: Person['answers'];
  readonly lookedUp: number;
  /** Where to look, when something is wrong. */
  readonly folder: string;
}

/** A point that is not reached by then will not be: the engine has too little to do. */
const DEATH_MS_MAX = 4_000;
/** Orders under way; more would only wait. */
const UNFINISHED_MAX = 60;

const TROUBLE = { answer: 60, delay: 8, linger: 8, drop: 8, error: 6, lose: 6, hang: 1, busy: 3 } as const;

/** One folder, killed so many times and started again after each; then everything must come to its end. */
export async function campaign(options: CampaignOptions): Promise<Verdict> {
  const world = await World.open(options);
  const verdict = await new Campaign(world, options).run();
  await world.close(isSound(verdict) ? 'forget' : 'keep');
  return verdict;
}

class Campaign {
  readonly #world: World;
  readonly #options: CampaignOptions;
  readonly #chance: Chance;
  readonly #watch: Watch;
  readonly #deaths = new Map<string, number>();
  #kills = 0;

  constructor(world: World, options: CampaignOptions) {
    this.#world = world;
    this.#options = options;
    this.#chance = new Chance(options.seed);
    this.#watch = new Watch(world, this.#chance);
  }

  async run(): Promise<Verdict> {
    await this.#world.service.behave(TROUBLE);
    // A few more than asked for: an engine that drains before it could be killed is no kill.
    for (const death of deathsOf(this.#options.kills * 2, this.#chance)) {
      if (this.#kills >= this.#options.kills) break;
      await this.#round(death);
    }
    await this.#watch.settle();
    return this.#verdict();
  }

  async #round(death: Death): Promise<void> {
    const startedAt = performance.now();
    const { sender } = this.#watch;
    if (this.#watch.unfinished < UNFINISHED_MAX) sender.add();
    if (death.kind === 'at point' && death.point === 'deploy-step') sender.addDeployment();
    const engine = this.#world.start(death.kind === 'at point' ? { diesAt: death } : {});
    const died = die(engine, death);
    await this.#watch.accompany(engine);
    const how = await died;
    await this.#count(engine, how);
    await this.#watch.judge(engine);
    const tookMs = (performance.now() - startedAt).toFixed(0);
    this.#options.onDeath?.(`${String(this.#kills).padStart(4)} ${how.padEnd(20)} ${tookMs.padStart(5)} ms`);
  }

  async #count(engine: EngineProcess, how: string): Promise<void> {
    const { code, signal } = await engine.ended;
    if (signal === 'SIGKILL') {
      this.#kills++;
      this.#deaths.set(how, (this.#deaths.get(how) ?? 0) + 1);
    } else if (code !== 0) {
      this.#watch.report(`an engine that was to die ${how} ended with ${code ?? signal}: ${engine.said}`);
    }
  }

  #verdict(): Verdict {
    const { service, workflows, folder } = this.#world;
    const notes = workflows.reduce((sum, workflow) => sum + this.#world.notes(workflow).length, 0);
    const lookedUp = this.#world.read(
      (reader) => reader.table('mutations').filter(({ resolvedBy }) => resolvedBy === 'reconcile').length,
    );
    return {
      ...this.#watch.findings,
      deaths: this.#deaths,
      inputs: this.#watch.sender.inputs.length,
      effects: service.effects().length + notes,
      answers: this.#watch.person.answers,
      lookedUp,
      folder,
    };
  }
}

/** Sees to it that an engine dies, and says how it did. */
async function die(engine: EngineProcess, death: Death): Promise<string> {
  if (death.kind === 'at point') return dieAtPoint(engine, death);
  if (death.kind !== 'after start') await engine.ready();
  await sleep(death.ms);
  switch (death.kind) {
    case 'after start':
    case 'after ready':
      break;
    case 'while frozen':
      engine.signal('SIGSTOP');
      await sleep(death.frozenMs);
      break;
    case 'while draining':
      engine.signal('SIGTERM');
      await sleep(death.drainingMs);
      break;
  }
  await engine.end('SIGKILL');
  return deathName(death);
}

async function dieAtPoint(engine: EngineProcess, death: Extract<Death, { kind: 'at point' }>): Promise<string> {
  await engine.ready();
  if (death.point === 'drained') engine.signal('SIGTERM');
  const late = Symbol('late');
  const first = await Promise.race([engine.ended, sleep(DEATH_MS_MAX, late, { ref: false })]);
  if (first !== late) return deathName(death);
  await engine.end('SIGKILL');
  return 'at work';
}
