import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type App, deploy, startApp } from '#app';
import type { Clock, WorkflowId } from '#base';
import { type Served, serve } from '#http';
import { INVARIANTS } from '#model';
import type { StayHabits } from '#session';
import { openReader, type Reader } from '#store';
import { Keyboard, PersonAtTheKeyboard } from './keyboard.ts';
import { Outside } from './outside.ts';
import { BY, type Person, PersonAtTheDoor } from './person.ts';

const PATIENCE_MS = 60_000;

/** The time of day, and what the test lets pass besides. */
class MovableClock implements Clock {
  aheadMs = 0;

  now(): number {
    return Date.now() + this.aheadMs;
  }
}

/** A whole engine with a real sandbox, a real file and a real server outside, for one test. */
export class Stage {
  readonly folder: string;
  readonly outside: Outside;
  readonly clock = new MovableClock();
  readonly errors: unknown[] = [];
  readonly keyboard = new Keyboard(() => this.data);
  /** Acts through the one door, or by typing commands where the test wants that. */
  readonly person: Person;
  app: App;
  /** Settings of the connection "shop", read at each start. */
  shop: Record<string, unknown>;
  /** What the config says besides these connections, or instead of them, read at each start. */
  config: Record<string, unknown> = {};
  /** Which sessions stay open, read at each start. */
  stayHabits: StayHabits | undefined;
  /** Every secret; read at each use. Undefined: what the vault has. */
  secret: string | undefined = 'token';
  #pokes = 0;
  readonly #atKeyboard: boolean;
  #served: Served | undefined;
  #reader: Reader | undefined;

  private constructor(folder: string, outside: Outside, shop: Record<string, unknown>, atKeyboard: boolean) {
    this.folder = folder;
    this.outside = outside;
    this.app = undefined as never;
    this.shop = shop;
    this.#atKeyboard = atKeyboard;
    this.person = atKeyboard ? new PersonAtTheKeyboard(this.keyboard) : new PersonAtTheDoor(() => this.app);
  }

  /** With an API, and a person who types. */
  static atKeyboard(t: TestContext, shop: Record<string, unknown> = {}): Promise<Stage> {
    return Stage.open(t, shop, { atKeyboard: true });
  }

  static async open(
    t: TestContext,
    shop: Record<string, unknown> = {},
    { atKeyboard = false, config = {} }: { atKeyboard?: boolean; config?: Record<string, unknown> } = {},
  ): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-stage-'));
    mkdirSync(join(folder, 'out'));
    const outside = await new Outside().listen();
    const stage = new Stage(folder, outside, shop, atKeyboard);
    stage.config = config;
    await stage.start();
    t.after(async () => {
      outside.release();
      await stage.stop().catch((error: unknown) => stage.errors.push(error));
      await outside.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return stage;
  }

  /** Rows at once, on a connection of its own: a test looks from outside. */
  get reader(): Reader {
    this.#reader ??= openReader(this.data);
    return this.#reader;
  }

  get manager() {
    return this.app.engine.manager;
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get url(): string {
    return this.#served?.url ?? '';
  }

  async stop(): Promise<void> {
    await this.#served?.close();
    this.#reader?.close();
    this.#reader = undefined;
    await this.app.stop();
  }

  async start(): Promise<void> {
    this.app = await this.#start();
    if (this.#atKeyboard) this.#served = await serve(this.app, { port: 0, dataDir: this.data });
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Time passes at once. The scheduler sleeps on a real timer, so something must make it look. */
  async pass(ms: number): Promise<void> {
    this.clock.aheadMs += ms;
    await this.manager.createWorkflow(`time-passes-${++this.#pokes}`, BY);
  }

  /** The body of a script; `defineWorkflow` and `topic` are imported for it. */
  async deploy(script: string, options: { activate?: boolean; skipPending?: boolean } = {}) {
    const file = join(this.folder, 'workflow.ts');
    writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);
    return deploy(this.app, file, { by: BY, ...options });
  }

  async publish(workflow: WorkflowId, topic: string, ...payloads: { id: string }[]): Promise<void> {
    const publishes = payloads.map((payload) => ({ topic, messageId: payload.id, payload: JSON.stringify(payload) }));
    await this.manager.publishEvents(workflow, publishes, BY);
  }

  workflow(id?: WorkflowId) {
    const workflow = this.reader.table('workflows').find((each) => id === undefined || each.id === id);
    assert.ok(workflow);
    return workflow;
  }

  events(topic?: string): string[] {
    const events = this.reader.table('events').filter((event) => topic === undefined || event.topic === topic);
    return events.map((event) => `${event.messageId} ${event.status}`);
  }

  event(messageId: string) {
    const event = this.reader.table('events').find((each) => each.messageId === messageId);
    assert.ok(event);
    return event;
  }

  runs(workflow?: WorkflowId): string[] {
    return this.#runsOf(workflow).map((run) => `${run.handlerName} ${run.phase} ${run.status}`);
  }

  lastRun(workflow?: WorkflowId) {
    const run = this.#runsOf(workflow).at(-1);
    assert.ok(run);
    return run;
  }

  mutation() {
    const mutation = this.reader.table('mutations').at(-1);
    assert.ok(mutation);
    return mutation;
  }

  sessions(): string[] {
    return this.reader.table('script_runs').map((session) => `${session.trigger} ${session.result}`);
  }

  state(handler: string): unknown {
    const kept = this.reader.table('handler_states').find((state) => state.handlerName === handler);
    return kept?.state == null ? undefined : JSON.parse(kept.state);
  }

  /** Waits for a commit after which this holds; commits are the only clock. */
  async until(what: string, holds: () => boolean): Promise<void> {
    if (!holds()) await this.#commitAfterWhich(what, holds);
    this.check();
  }

  /** Waits until a run of this handler stands there, or was stopped there. */
  async untilRun(status: string, workflow?: WorkflowId): Promise<void> {
    await this.until(`a run is ${status}`, () => this.#runsOf(workflow).at(-1)?.status === status);
  }

  /** Nothing is under way and nothing is due at once. */
  async quiet(): Promise<void> {
    await this.until('everything is quiet', () => {
      const busy = this.reader.unfinishedExecutions({ limit: 1 }).length > 0 || isLookingUp(this.reader);
      const due = this.reader.nextWakeAt();
      return !busy && (due === null || due > this.clock.now() + 100);
    });
  }

  check(): void {
    for (const { name, sql } of INVARIANTS) assert.deepEqual(this.reader.offenders(sql), [], name);
    assert.deepEqual(this.errors, []);
  }

  #runsOf(workflow: WorkflowId | undefined) {
    return this.reader.table('handler_runs').filter((run) => workflow === undefined || run.workflowId === workflow);
  }

  async #commitAfterWhich(what: string, holds: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const done = (finish: () => void): void => {
        stop();
        clearTimeout(timer);
        finish();
      };
      const stop = this.app.engine.listen(() => {
        if (holds()) done(resolve);
      });
      const timer = setTimeout(() => {
        const workflows = this.reader.table('workflows');
        const state = JSON.stringify({ runs: this.runs(), events: this.events(), workflows }, null, 1);
        done(() => reject(new Error(`it never came to pass that ${what}:\n${state}\n${this.errors.join('\n')}`)));
      }, PATIENCE_MS);
    });
  }

  #start(): Promise<App> {
    return startApp({
      dataDir: this.data,
      baseFolder: this.folder,
      config: {
        connections: {
          shop: { type: 'http', baseUrl: this.outside.url, timeoutMs: 6_000, visibilityMs: 0, ...this.shop },
          book: { type: 'files', root: './out' },
        },
        ...this.config,
      },
      resolveSecret: () => this.secret,
      sandbox: { children: 1 },
      ...(this.stayHabits && { stayHabits: this.stayHabits }),
      clock: this.clock,
      onError: (error) => this.errors.push(error),
    });
  }
}

/** A look-up under way is claimed, and no longer due. */
export function isLookingUp(reader: Reader): boolean {
  const calls = reader.table('mutations');
  return calls.some(({ status, reconcileUntil }) => status === 'needs_reconcile' && reconcileUntil !== null);
}

/** What a booking's call gives back, for a person who says that it happened. */
export const BOOKED = { status: 201, headers: {}, body: { ref: 'b1' } };
