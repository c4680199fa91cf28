import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineProcess } from './engine-process.ts';
import type { World } from './world.ts';

/** The commands' exit codes that a person who looks after a dying engine meets. */
const OK = 0;
const CONFLICT = 5;
const NEEDS_PERSON = 6;
const UNREACHABLE = 7;
const PAUSE_MS = 100;

interface Need {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly sentence: string;
}

/** What the engine asked about, as `pawl show` has it. */
interface Output {
  readonly row: { readonly connection: string; readonly idempotencyKey: string; readonly params: Params };
}

interface Params {
  readonly json?: { readonly workflow: string; readonly effect: string; readonly ids: readonly string[] };
  readonly path: string;
  readonly text?: string;
}

/** Looks at what the engine asks, looks outside, and says what is true. */
export class Person {
  readonly answers = { happened: 0, 'did not happen': 0, resume: 0 };
  /** What a person cannot answer, because nothing of it should be asked. */
  readonly surprises: string[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async lookAfter(engine: EngineProcess): Promise<void> {
    while (!engine.isOver) {
      for (const need of await this.needs()) {
        if (engine.isOver) return;
        await this.#answer(need);
      }
      await sleep(PAUSE_MS);
    }
  }

  async needs(): Promise<readonly Need[]> {
    const typed = await this.#world.type('needs', '--json');
    if (typed.code === UNREACHABLE) return [];
    if (typed.code !== OK && typed.code !== NEEDS_PERSON) {
      this.surprises.push(`pawl needs ended with ${typed.code}: ${typed.out}${typed.err}`);
      return [];
    }
    return typed.json<{ items: readonly Need[] }>().items;
  }

  async #answer({ kind, id, name, sentence }: Need): Promise<void> {
    if (kind === 'unknown') await this.#resolve(id);
    // Three deaths on one event: the engine asks whether it should go on, and it was not the event's fault.
    else if (kind === 'error') await this.#do('resume', ['resume', name]);
    else this.surprises.push(`${name} needs a person: ${kind}: ${sentence}`);
  }

  /** The log is read just before the answer; an answer that comes too early is refused, and given again later after another look. */
  async #resolve(id: string): Promise<void> {
    const shown = await this.#world.type('show', id, '--json');
    if (shown.code !== OK) return;
    const { row } = shown.json<Output>();
    const result = this.#resultOf(row.params);
    if (result === undefined) await this.#do('did not happen', ['resolve', id, '--did-not-happen']);
    else await this.#do('happened', ['resolve', id, '--happened', '--result', JSON.stringify(result)]);
  }

  /** What the service gave for it; undefined when it did not do it. */
  #resultOf({ json, path, text }: Params): unknown {
    if (json === undefined) {
      const isNoted = this.#world.notes(path.replace(/\.txt$/, '')).includes(text?.trim() ?? '');
      return isNoted ? { offset: 0, bytes: text?.length ?? 0 } : undefined;
    }
    const name = nameOf(json);
    const found = this.#world.service.effects().find((effect) => nameOf(effect) === name);
    return found && { status: 201, headers: {}, body: { key: found.key } };
  }

  async #do(answer: keyof Person['answers'], argv: readonly string[]): Promise<void> {
    const typed = await this.#world.type(...argv, '--json');
    if (typed.code === OK) this.answers[answer]++;
    // Too early, or somebody was faster, or nobody is there to hear it: look again.
    else if (typed.code !== CONFLICT && typed.code !== UNREACHABLE)
      this.surprises.push(`pawl ${argv.join(' ')} ended with ${typed.code}: ${typed.out}${typed.err}`);
  }
}

function nameOf({ workflow, effect, ids }: NonNullable<Params['json']>): string {
  return `${workflow} ${effect} ${ids.join(' ')}`;
}
