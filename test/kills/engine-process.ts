import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { KillPoint } from '#base';

const ROOT = dirname(dirname(import.meta.dirname));
const DYING = join(import.meta.dirname, 'processes', 'dying-at-point.ts');
const READY_MS_MAX = 30_000;
/** How long what an engine started may outlive it. */
const ORPHANS_MS_MAX = 20_000;

export interface EngineOptions {
  readonly config: string;
  readonly data: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another command than `start`, with what it takes besides. */
  readonly command?: readonly [name: 'start' | 'executor' | 'worker', ...args: string[]] | undefined;
  /** Where its sources are; these here, if nothing is said. */
  readonly root?: string | undefined;
  /** Files that are loaded before it. */
  readonly preloads?: readonly string[] | undefined;
  /** It kills itself when this point is reached for the nth time. */
  readonly diesAt?: { readonly point: KillPoint; readonly nth: number } | undefined;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `pawl start` as it is, in a process group of its own, so that nothing it started can hide. */
export class EngineProcess {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #ready = Promise.withResolvers<string | undefined>();
  #isReady = false;
  #isOver = false;
  #said = '';

  constructor({ config, data, env = {}, diesAt, command, preloads = [], root = ROOT }: EngineOptions) {
    const loaded = [...preloads, ...(diesAt === undefined ? [] : [DYING])];
    const dying = loaded.flatMap((file) => ['--import', pathToFileURL(file).href]);
    const main = join(root, 'src', 'main.ts');
    const flags = ['--disable-warning=ExperimentalWarning', ...dying, main, ...(command ?? ['start'])];
    // When this process dies, however it dies, its engines drain and end.
    const port = command?.[0] === 'worker' ? [] : ['--port', '0'];
    const options = ['--config', config, '--data', data, ...port, '--until-input-ends'];
    this.#child = spawn(process.execPath, [...flags, ...options], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env, ...(diesAt && { PAWL_DIE_AT: `${diesAt.point} ${diesAt.nth}` }) },
      detached: true,
    });
    let out = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      const [, url] = /^pawl ready (\S+)\n/m.exec(out) ?? [];
      if (url === undefined) return;
      this.#isReady = true;
      this.#ready.resolve(url);
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#isOver = true;
        this.#ready.resolve(undefined);
        resolve({ code, signal });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it said on its standard error. */
  get said(): string {
    return this.#said;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The URL of its ready line; undefined when it ended before. */
  async ready(): Promise<string | undefined> {
    const late = Symbol('late');
    const first = await Promise.race([this.#ready.promise, sleep(READY_MS_MAX, late, { ref: false })]);
    if (first === late) throw new Error(`the engine is not ready after ${READY_MS_MAX} ms: ${this.#said}`);
    return first as string | undefined;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(signal: NodeJS.Signals): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }

  /** Sandboxes notice that their engine is gone and end too; whoever is left after a while is named. */
  async leavesNobody(): Promise<boolean> {
    await this.ended;
    const until = Date.now() + ORPHANS_MS_MAX;
    while (Date.now() < until) {
      if (!isGroupAlive(this.pid)) return true;
      await sleep(100);
    }
    return false;
  }
}

const PATIENCE_MS = 30_000;

/** Waits until something that only the outside shows has come to pass. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`it never came to pass that ${what}`);
    await sleep(20);
  }
}

function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
