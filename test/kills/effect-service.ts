import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Effect, readEffects, type Weights } from './effect-log.ts';

const PROGRAM = join(import.meta.dirname, 'processes', 'effect-server.ts');

/** The process that stands for the outside world, and its log. */
export class EffectService {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(child: ChildProcess, url: string, log: string) {
    this.#child = child;
    this.url = url;
    this.#log = log;
  }

  static async open(folder: string, seed: number): Promise<EffectService> {
    const log = join(folder, 'effects.jsonl');
    const child = spawn(process.execPath, [PROGRAM, log, String(seed)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`the effect server ended with ${code}`);
      }),
    ]);
    return new EffectService(child, String(line).trim(), log);
  }

  effects(): Effect[] {
    return readEffects(this.#log);
  }

  async behave(weights: Weights): Promise<void> {
    await this.#send('PUT', '/weights', weights);
  }

  async feed(workflow: string, id: string): Promise<void> {
    await this.#send('POST', '/feed', { workflow, id });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.destroy();
    await ended;
  }

  async #send(method: string, path: string, body: unknown): Promise<void> {
    const answer = await fetch(this.url + path, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the effect server answered ${answer.status} to ${method} ${path}`);
    await answer.arrayBuffer();
  }
}
