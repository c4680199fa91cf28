import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type App, deploy, startApp } from '#app';
import type { WorkflowId } from '#base';
import { INVARIANTS } from '#model';
import { Outside } from './outside.ts';

const PATIENCE_MS = 20_000;
const BY = 'ada';

/** A whole engine with a real sandbox, a real file and a real server outside, for one test. */
export class Stage {
  readonly folder: string;
  readonly outside: Outside;
  readonly errors: unknown[] = [];
  app: App;
  readonly #shop: Record<string, unknown>;

  private constructor(folder: string, outside: Outside, app: App, shop: Record<string, unknown>) {
    this.folder = folder;
    this.outside = outside;
    this.app = app;
    this.#shop = shop;
  }

  static async open(t: TestContext, shop: Record<string, unknown> = {}): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-stage-'));
    mkdirSync(join(folder, 'out'));
    const outside = await new Outside().listen();
    const stage = new Stage(folder, outside, undefined as never, shop);
    stage.app = await stage.#start();
    t.after(async () => {
      await stage.app.stop().catch((error: unknown) => stage.errors.push(error));
      await outside.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return stage;
  }

  get reader() {
    return this.app.engine.reader;
  }

  get manager() {
    return this.app.engine.manager;
  }

  async restart(): Promise<void> {
    await this.app.stop();
    this.app = await this.#start();
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

  workflow() {
    const [workflow] = this.reader.table('workflows');
    assert.ok(workflow);
    return workflow;
  }

  events(topic?: string): string[] {
    const events = this.reader.table('events').filter((event) => topic === undefined || event.topic === topic);
    return events.map((event) => `${event.messageId} ${event.status}`);
  }

  runs(): string[] {
    return this.reader.table('handler_runs').map((run) => `${run.handlerName} ${run.phase} ${run.status}`);
  }

  lastRun() {
    const run = this.reader.table('handler_runs').at(-1);
    assert.ok(run);
    return run;
  }

  mutation() {
    const mutation = this.reader.table('mutations').at(-1);
    assert.ok(mutation);
    return mutation;
  }

  /** Waits for a commit after which this holds; commits are the only clock. */
  async until(what: string, holds: () => boolean): Promise<void> {
    if (holds()) return;
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
        const state = JSON.stringify({ runs: this.runs(), events: this.events(), workflow: this.workflow() }, null, 1);
        done(() => reject(new Error(`it never came to pass that ${what}:\n${state}\n${this.errors.join('\n')}`)));
      }, PATIENCE_MS);
    });
    this.check();
  }

  /** Nothing is under way and nothing is due at once. */
  async quiet(): Promise<void> {
    await this.until('everything is quiet', () => {
      const busy = this.reader.unfinishedExecutions({ limit: 1 }).length > 0;
      const due = this.reader.nextDueAt();
      return !busy && (due === null || due > Date.now() + 100);
    });
  }

  check(): void {
    for (const { name, sql } of INVARIANTS) assert.deepEqual(this.reader.offenders(sql), [], name);
    assert.deepEqual(this.errors, []);
  }

  #start(): Promise<App> {
    return startApp({
      dataDir: join(this.folder, 'data'),
      baseFolder: this.folder,
      config: {
        connections: {
          shop: { type: 'http', baseUrl: this.outside.url, timeoutMs: 2_000, visibilityMs: 0, ...this.#shop },
          book: { type: 'files', root: './out' },
        },
      },
      sandbox: { children: 1 },
      onError: (error) => this.errors.push(error),
    });
  }
}

export const ORDERS = `
export default defineWorkflow({ name: 'orders', uses: { shop: 'http', book: 'files' }, topics: { placed: topic<{ id: string }>(), booked: topic<{ ref: string }>() } })
  .consumer('book', {
    subscribe: ['placed'], publishes: ['booked'], state: { count: 0 },
    async prepare(ctx, state) {
      const [e] = await ctx.peek('placed', { limit: 1 });
      if (!e) return ctx.idle();
      return ctx.take(e, { data: { id: e.payload.id, count: state.count + 1 }, title: 'Book ' + e.payload.id });
    },
    async mutate(ctx, { data }) { return ctx.shop.post<{ ref: string }>({ path: '/bookings', json: { id: data.id } }); },
    async next(ctx, { data }, r) {
      if (r.status === 'applied') ctx.publish('booked', { messageId: data.id, payload: { ref: r.result.body.ref } });
      return { count: data.count };
    },
  });
`;
