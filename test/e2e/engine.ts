import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { INVARIANTS } from '#model';
import { openReader, type Reader } from '#store';
import { Keyboard, PAWL } from './keyboard.ts';
import { Outside } from './outside.ts';
import { isLookingUp } from './stage.ts';

const PATIENCE_MS = 60_000;
/** A commit that the file system does not tell of is seen at the next look. */
const LOOK_MS = 50;

export interface EngineSettings {
  /** Settings of the connection "shop" besides its address. */
  readonly shop?: Record<string, unknown>;
  /** Who is told when something needs a person. */
  readonly notify?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  /** Started again, it listens where it did before: somebody has its page open. */
  readonly keepsPort?: boolean;
}

/** The real thing: `pawl start` as a process, commands as processes, and a look at its file from outside. */
export class EngineUnderTest {
  readonly outside: Outside;
  readonly folder: string;
  readonly keyboard = new Keyboard(() => this.data);
  readonly #settings: EngineSettings;
  #child: ChildProcess | undefined;
  #reader: Reader | undefined;
  #port = 0;
  /** What the engine said on its standard error. */
  said = '';

  private constructor(folder: string, outside: Outside, settings: EngineSettings) {
    this.folder = folder;
    this.outside = outside;
    this.#settings = settings;
  }

  static async open(t: TestContext, settings: EngineSettings = {}): Promise<EngineUnderTest> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-engine-'));
    mkdirSync(join(folder, 'out'));
    const outside = await new Outside().listen();
    const engine = new EngineUnderTest(folder, outside, settings);
    t.after(async () => {
      await engine.kill();
      await outside.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const shop = { type: 'http', baseUrl: outside.url, timeoutMs: 5_000, visibilityMs: 0, ...settings.shop };
    const desk = { type: 'http', baseUrl: outside.url, timeoutMs: 5_000, visibilityMs: 0 };
    const connections = { shop, desk, book: { type: 'files', root: './out' } };
    writeFileSync(
      join(folder, 'pawl.config.ts'),
      `import { defineConfig } from 'pawl';\nexport default defineConfig(${JSON.stringify({ connections, notify: settings.notify })});\n`,
    );
    await engine.start();
    return engine;
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get reader(): Reader {
    this.#reader ??= openReader(this.data);
    return this.#reader;
  }

  /** Resolves with the URL that the ready line names. */
  async start(): Promise<string> {
    const [node, ...rest] = PAWL;
    const argv = [
      ...rest,
      'start',
      '--config',
      join(this.folder, 'pawl.config.ts'),
      '--data',
      this.data,
      '--port',
      `${this.#port}`,
    ];
    const env = { PATH: process.env.PATH, ...this.#settings.env };
    const child = spawn(node, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => {
      this.said += chunk.toString();
    });
    return new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the engine ended with ${code}: ${this.said}`)));
      child.stdout.on('data', (chunk: Buffer) => {
        const [, url] = /^pawl ready (\S+)/m.exec(chunk.toString()) ?? [];
        if (url === undefined) return;
        if (this.#settings.keepsPort === true) this.#port = Number(new URL(url).port);
        resolve(url);
      });
    });
  }

  /** SIGKILL: no goodbye of any kind. */
  kill(): Promise<number | null> {
    return this.#end('SIGKILL');
  }

  /** SIGTERM; gives the exit code. */
  terminate(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async deploy(script: string, ...options: string[]): Promise<{ workflow: string; version: string }> {
    const file = join(this.folder, 'workflow.ts');
    writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);
    return this.keyboard.json('deploy', file, ...options);
  }

  /** Over the API, as another program would. */
  async publish(workflow: string, topic: string, ...payloads: { id: string }[]): Promise<void> {
    const [url, token] = ['url', 'token'].map((file) => readFileSync(join(this.data, file), 'utf8').trim());
    const answer = await fetch(`${url}/api/workflows/${workflow}/publish`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: payloads.map((payload) => ({ topic, messageId: payload.id, payload })) }),
    });
    assert.equal(answer.status, 200, await answer.text());
  }

  runs(): string[] {
    return this.reader.table('handler_runs').map((run) => `${run.handlerName} ${run.phase} ${run.status}`);
  }

  events(topic?: string): string[] {
    const events = this.reader.table('events').filter((event) => topic === undefined || event.topic === topic);
    return events.map((event) => `${event.messageId} ${event.status}`);
  }

  /** Waits until the file says so. */
  async until(what: string, holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (holds()) done(resolve);
      };
      const watcher = watch(this.data, look);
      const interval = setInterval(look, LOOK_MS);
      const timer = setTimeout(() => {
        const state = JSON.stringify({ runs: this.runs(), events: this.events().slice(0, 20) }, null, 1);
        done(() => reject(new Error(`it never came to pass that ${what}:\n${state}\n${this.said}`)));
      }, PATIENCE_MS);
      const done = (finish: () => void): void => {
        watcher.close();
        clearInterval(interval);
        clearTimeout(timer);
        finish();
      };
    });
    this.check();
  }

  async quiet(): Promise<void> {
    await this.until('everything is quiet', () => {
      const before = this.#commits();
      const due = this.reader.nextWakeAt();
      const busy = this.reader.unfinishedExecutions({ limit: 1 }).length > 0 || isLookingUp(this.reader);
      const isOneMoment = this.#commits() === before;
      return isOneMoment && !busy && (due === null || due > Date.now() + 500);
    });
  }

  /** Another number after each commit of the engine: work that moved on between two looks is not overlooked. */
  #commits(): unknown {
    return this.reader.offenders('SELECT data_version FROM pragma_data_version')[0]?.data_version;
  }

  check(): void {
    for (const { name, sql } of INVARIANTS) assert.deepEqual(this.reader.offenders(sql), [], name);
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    child.removeAllListeners('exit');
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const code = await ended;
    this.#reader?.close();
    this.#reader = undefined;
    return code;
  }
}
