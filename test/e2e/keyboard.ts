import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { EventId, MutationId, RunId, WorkflowId } from '#base';
import { type Answer, BY, type Person } from './person.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

/** The command line as a process, past the launcher that only finds a Node. */
export const PAWL = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN] as const;

export interface Typed {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** What a command said instead of doing it. */
class CommandFailed extends Error {
  readonly code: string;
  readonly exit: number | null;

  constructor(argv: readonly string[], typed: Typed) {
    const { code, message } = errorIn(typed);
    super(`pawl ${argv.join(' ')} ended with ${typed.code}: ${message}`);
    this.name = 'CommandFailed';
    this.code = code;
    this.exit = typed.code;
  }
}

/** Commands typed by one person at one engine. */
export class Keyboard {
  readonly #data: () => string;

  constructor(data: () => string) {
    this.#data = data;
  }

  /** One command, as it ends. */
  type(...argv: string[]): Promise<Typed> {
    const [node, ...rest] = [...PAWL, ...argv];
    const env = { PATH: process.env.PATH, PAWL_DATA: this.#data(), PAWL_BY: BY };
    const child = spawn(node as string, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, out, err }));
    });
  }

  /** One command that must work; gives what it printed. */
  async ok(...argv: string[]): Promise<string> {
    const typed = await this.type(...argv);
    if (typed.code !== 0) throw new CommandFailed(argv, typed);
    return typed.out;
  }

  /** The same as JSON. */
  async json<T = Record<string, unknown>>(...argv: string[]): Promise<T> {
    const typed = await this.type(...argv, '--json');
    if (typed.code !== 0 && typed.code !== 6) throw new CommandFailed(argv, typed);
    return JSON.parse(typed.out) as T;
  }
}

function errorIn({ out, err }: Typed): { code: string; message: string } {
  try {
    return (JSON.parse(out) as { error: { code: string; message: string } }).error;
  } catch {
    return { code: 'unknown', message: err || out };
  }
}

const ANSWERS: Readonly<Record<Answer, string>> = {
  happened: '--happened',
  did_not_happen: '--did-not-happen',
  skip: '--skip',
  check_again: '--check-again',
};

/** Every act is a command. */
export class PersonAtTheKeyboard implements Person {
  readonly #keyboard: Keyboard;

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  trigger(workflow: WorkflowId): Promise<void> {
    return this.#do('trigger', workflow);
  }

  pause(workflow: WorkflowId): Promise<void> {
    return this.#do('pause', workflow);
  }

  resume(workflow: WorkflowId): Promise<void> {
    return this.#do('resume', workflow);
  }

  cancel(workflow: WorkflowId): Promise<void> {
    return this.#do('cancel', workflow);
  }

  retry(workflow: WorkflowId): Promise<void> {
    return this.#do('retry', workflow);
  }

  resolve(output: MutationId, answer: Answer, result?: unknown): Promise<void> {
    const given = result === undefined ? [] : ['--result', JSON.stringify(result)];
    return this.#do('resolve', output, ANSWERS[answer], ...given);
  }

  setAside(output: MutationId): Promise<void> {
    return this.#do('set-aside', output);
  }

  approve(output: MutationId): Promise<void> {
    return this.#do('approve', output);
  }

  reject(output: MutationId, how: 'skip' | 'park'): Promise<void> {
    return this.#do('reject', output, `--${how}`);
  }

  skip(...events: EventId[]): Promise<void> {
    return this.#do('skip', ...events);
  }

  park(...events: EventId[]): Promise<void> {
    return this.#do('park', ...events);
  }

  unpark(...events: EventId[]): Promise<void> {
    return this.#do('unpark', ...events);
  }

  redo(...events: EventId[]): Promise<void> {
    return this.#do('redo', ...events);
  }

  finish(run: RunId): Promise<void> {
    return this.#do('finish', run);
  }

  cure(connection: string): Promise<void> {
    return this.#do('connections', 'cure', connection);
  }

  async #do(...argv: string[]): Promise<void> {
    await this.#keyboard.json(...argv);
  }
}
