// The work that the engine and the others are measured on: one event is one POST to a server of its own, and everything that makes it durable.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type App, deploy } from '#app';
import type { WorkflowId } from '#base';
import { processorMs } from './processor.ts';

const OTHERS = join(import.meta.dirname, 'others');
const SETTINGS = { type: 'http', timeoutMs: 10_000, visibilityMs: 0, concurrency: 64 } as const;
/** So many, then it looks whether it is warm; the same for the others. */
const WARM_EVENTS = 320;
/** Each in the order of an index of such events alone, so that asking costs nothing however many are done. */
const OPEN = `SELECT id FROM (SELECT id FROM events WHERE status = 'pending' ORDER BY workflow_id, topic, id LIMIT 1) AS waiting
  UNION ALL SELECT id FROM (SELECT id FROM events WHERE status = 'reserved' ORDER BY workflow_id, reserved_by_run_id LIMIT 1) AS taken`;

/** How events come: all at once, or each when the one before is done. */
export type Intake = 'at once' | 'one by one';
type Hand = (app: App, workflow: WorkflowId, count: number, prefix?: string) => Promise<void>;

export interface Measured {
  readonly inFlight: number;
  readonly intake: Intake;
  readonly events: number;
  /**
   * Before the clock starts, the same for all: what runs for weeks is not to be judged by its first seconds, while its code is compiled.
   * By time and not by events, since what does much for an event has much to compile.
   */
  readonly warmMs: number;
  /** The process of the database that is written to. */
  readonly database?: number;
}

/** What the events took: of time, and of the processor time of whoever is measured, its children and its database. */
export interface Took {
  readonly ms: number;
  readonly processorMs: number;
}

/** Takes the POSTs of whoever is measured, and counts them. */
export class Effects {
  readonly baseUrl: string;
  seen = 0;
  readonly #process;

  private constructor(process: ReturnType<typeof Effects.spawn>, port: string) {
    this.#process = process;
    this.baseUrl = `http://127.0.0.1:${port}`;
    process.stdout.on('data', (dots: Buffer) => {
      this.seen += dots.length;
      process.emit('seen');
    });
  }

  static spawn() {
    return spawn(process.execPath, [join(OTHERS, 'effects.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  static async start(): Promise<Effects> {
    const process = Effects.spawn();
    const [port] = await once(process.stdout, 'data');
    return new Effects(process, String(port).trim());
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get config() {
    return { connections: { shop: { ...SETTINGS, baseUrl: this.baseUrl } } };
  }

  /** Resolves when so many more have come. */
  async more(count: number): Promise<void> {
    for (const aim = this.seen + count; this.seen < aim; ) await once(this.#process, 'seen');
  }

  /** When so many more events have come to their end. Nobody asks the database before the last effect was seen. */
  async committed(app: App, count: number): Promise<void> {
    await this.more(count);
    while ((await app.engine.reader.offenders(OPEN)).length > 0) await setTimeout(1);
  }

  stop(): void {
    this.#process.stdin.end();
  }
}

export async function deployMany(app: App, folder: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const file = join(folder, `w${i}.ts`);
    writeFileSync(file, script(`w${i}`));
    await deploy(app, file, { by: 'bench' });
  }
}

export async function engineRound(
  app: App,
  effects: Effects,
  { inFlight, intake, events, warmMs, database }: Measured,
): Promise<Took> {
  const workflows = (await app.engine.reader.table('workflows')).map(({ id }) => id);
  const hand = intake === 'at once' ? publish : publishOneByOne(app);
  const drive = async (count: number, prefix: string) => {
    const each = Math.ceil(count / inFlight);
    const done = effects.committed(app, each * inFlight);
    await Promise.all(workflows.map((workflow) => hand(app, workflow, each, prefix)));
    await done;
  };
  // In the way that is measured afterwards, as everybody else warms up.
  const warmAt = performance.now();
  for (let i = 0; performance.now() - warmAt < warmMs; i++) await drive(WARM_EVENTS, `warm${i}-`);
  const took = stopwatch(process.pid, database, effects);
  await drive(events, 'e');
  return took();
}

/** From now on. The server that takes the POSTs is nobody's. */
function stopwatch(pid: number, database: number | undefined, effects: Effects): () => Took {
  const roots = database === undefined ? [pid] : [pid, database];
  const used = () => processorMs(roots, effects.pid);
  const [before, startedAt] = [used(), performance.now()];
  return () => ({ ms: performance.now() - startedAt, processorMs: used() - before });
}

export async function publish(app: App, workflow: WorkflowId, count: number, prefix = 'e'): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const publishes = Array.from({ length: Math.min(500, count - done) }, (_, i) => {
      const id = `${prefix}${done + i}`;
      return { topic: 'in', messageId: id, payload: JSON.stringify({ id }) };
    });
    await app.engine.manager.publishEvents(workflow, publishes, 'bench');
  }
}

/**
 * Each when the one before is done. What a commit changed is told workflow by workflow: a session's beginning names both, and the commit
 * that ends a run names it and its session.
 */
function publishOneByOne(app: App): Hand {
  const workflows = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  app.engine.listen((changes) => {
    const idOf = (wanted: (typeof changes)[number]['kind']) => changes.find(({ kind }) => kind === wanted)?.id;
    const [session, workflow] = [idOf('session'), idOf('workflow')];
    if (session === undefined) return;
    const known = workflows.get(session);
    if (known === undefined && workflow !== undefined) workflows.set(session, workflow);
    else if (known !== undefined && idOf('run') !== undefined) waiting.get(known)?.();
  });
  return async (_, workflow, count, prefix = 'e') => {
    for (let i = 0; i < count; i++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(workflow, resolve);
      await publish(app, workflow, 1, `${prefix}${i}-`);
      await promise;
    }
  };
}

/** Whether they are there; without a network only the engine is measured. */
export function installed(): boolean {
  const { status } = spawnSync('npm', ['ci', '--prefix', OTHERS, '--no-audit', '--no-fund'], { stdio: 'ignore' });
  return status === 0;
}

/** What somebody else takes for the same. */
export async function otherRound(
  program: string,
  url: string,
  effects: Effects,
  { events, inFlight, warmMs, intake, database }: Measured,
  keeps = 'nothing',
): Promise<Took> {
  const args = [join(OTHERS, program), url, effects.baseUrl, events, inFlight, warmMs, intake, keeps].map(String);
  // With the same heap as ours has.
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  let took: (() => Took) | undefined;
  for await (const line of createInterface(child.stdout)) {
    if (line === 'warm') took = stopwatch(child.pid ?? 0, database, effects);
    else if (took) {
      const { processorMs } = took();
      await gone;
      return { ms: Number(line), processorMs };
    }
  }
  throw new Error(`${program} did not come to its end`);
}

/** DBOS wants to see a name and a host; where the socket is says the rest. */
export function withHost(url: string): string {
  return url.replace('postgres:///', 'postgres://pawl:none@localhost/').replace('&user=pawl', '');
}

function script(name: string): string {
  return `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({ name: '${name}', uses: { shop: 'http' }, topics: { in: topic<{ id: string }>() } })
  .consumer('work', { subscribe: ['in'], state: { count: 0 },
    async prepare(ctx, state) {
      const [e] = await ctx.peek('in', { limit: 1 });
      if (!e) return ctx.idle();
      return ctx.take(e, { data: { id: e.payload.id, count: state.count + 1 }, title: 'Book ' + e.payload.id });
    },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/bookings', json: data }); },
    async next(_ctx, { data }) { return { count: data.count }; },
  });
`;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
