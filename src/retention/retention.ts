import { type Clock, idPlaceAt, type WorkflowId } from '#base';
import type { Engine } from '#execution';

type Removed = Awaited<ReturnType<Engine['manager']['pruneHistory']>>;
type Kind = Parameters<Engine['reader']['aged']>[0];
type Aged = Awaited<ReturnType<Engine['reader']['aged']>>;

/** Rows named in one command: what waits behind it waits for some milliseconds. */
const PAGE = 100;
/** Between two commands everybody else has four times as long as the last one took, and at least so long. */
const REST_MS_MIN = 20;
const REST_TIMES = 4;
const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** An engine that has just started has other things to do. */
const FIRST_MS = 60_000;
/** Each pass frees what led to what the one before it removed; a chain of more workflows' steps waits for the next hour. */
const PASSES_MAX = 20;
/** Somebody waits for a preview, and it rests for nobody: after so long it tells what it has found. */
const PREVIEW_MS_MAX = 3 * 1_000;

export interface RetentionOptions {
  readonly engine: Pick<Engine, 'manager' | 'reader'>;
  readonly clock: Clock;
  readonly keepDays: number;
  readonly onError: (error: unknown) => void;
}

export interface RetentionState {
  readonly keepDays: number;
  readonly isRunning: boolean;
  readonly last: { readonly startedAt: number; readonly endedAt: number; readonly removed: Removed } | null;
}

/** What may go of each kind, in this order: what a run published and took goes with the runs, and frees sessions and inputs. */
const KINDS = {
  run: 'runs',
  event: 'events',
  session: 'sessions',
  execution: 'executions',
  input: 'inputs',
} as const satisfies Record<Kind, string>;

type Remove = (workflow: WorkflowId, named: { readonly before: number }) => Promise<Removed>;

export class Retention {
  readonly #options: RetentionOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<Removed> | undefined;
  #last: RetentionState['last'] = null;
  #isStopped = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#in(FIRST_MS);
  }

  /** Nothing more is asked for; resolves when the command under way is answered. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running?.catch(() => undefined);
  }

  state(): RetentionState {
    return { keepDays: this.#options.keepDays, isRunning: this.#running !== undefined, last: this.#last };
  }

  /** Everything that may go now; the same one for whoever asks meanwhile. */
  run(): Promise<Removed> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The same, for somebody who does not wait for it. */
  begin(): void {
    this.run().catch(this.#options.onError);
  }

  /**
   * What would go, by the same rule, and nothing is written. What only goes once something else has gone is not counted; where there
   * is much, it is not looked at to the end.
   */
  async preview(): Promise<{ readonly removable: Removed; readonly isWhole: boolean }> {
    const { manager } = this.#options.engine;
    let isWhole = true;
    const looks: Remove = (workflow, named) =>
      manager
        .together((model): never => {
          throw new OnlyLooked(model.pruneHistory(workflow, named));
        })
        .catch((error: unknown) => {
          if (error instanceof OnlyLooked) return error.found;
          throw error;
        });
    const until = performance.now() + PREVIEW_MS_MAX;
    let removable = NOTHING;
    for (const kind of Object.keys(KINDS) as Kind[]) {
      const seen = await this.#sweep(kind, this.#before(), looks, until);
      removable = sumOf(removable, seen.removed);
      isWhole &&= seen.isWhole;
    }
    return { removable, isWhole };
  }

  #in(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#in(EVERY_MS);
      this.begin();
    }, ms).unref();
  }

  #before(): number {
    return this.#options.clock.now() - this.#options.keepDays * DAY_MS;
  }

  async #run(): Promise<Removed> {
    const { clock, engine } = this.#options;
    const startedAt = clock.now();
    const before = this.#before();
    let removed = NOTHING;
    for (let pass = 0; pass < PASSES_MAX && !this.#isStopped; pass++) {
      let found = NOTHING;
      for (const kind of Object.keys(KINDS) as Kind[]) {
        const prune: Remove = (workflow, named) => engine.manager.pruneHistory(workflow, named);
        found = sumOf(found, (await this.#sweep(kind, before, prune)).removed);
      }
      removed = sumOf(removed, found);
      if (countOf(found) === 0) break;
    }
    this.#last = { startedAt, endedAt: clock.now(), removed };
    return removed;
  }

  /** Page after page, latest first: what came of something goes before it. */
  async #sweep(kind: Kind, before: number, remove: Remove, until?: number) {
    let removed = NOTHING;
    let below = idPlaceAt(kind, before + 1);
    while (!this.#isStopped) {
      const rows = await this.#options.engine.reader.aged(kind, { before, below, limit: PAGE });
      for (const [workflow, ids] of byWorkflow(rows)) {
        if (this.#isStopped) break;
        if (until !== undefined && performance.now() > until) return { removed, isWhole: false };
        const startedAt = performance.now();
        removed = sumOf(removed, await remove(workflow, { before, [KINDS[kind]]: ids }));
        if (until === undefined) await rest(Math.max(REST_MS_MIN, (performance.now() - startedAt) * REST_TIMES));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      below = last.id;
    }
    return { removed, isWhole: true };
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

const NOTHING: Removed = {
  runs: 0,
  events: 0,
  mutations: 0,
  deliveries: 0,
  sessions: 0,
  executions: 0,
  inputs: 0,
};

/** Thrown through a transaction that must not be kept. */
class OnlyLooked extends Error {
  readonly found: Removed;

  constructor(found: Removed) {
    super('only looked');
    this.found = found;
  }
}

function byWorkflow(rows: Aged): Map<WorkflowId, string[]> {
  const workflows = new Map<WorkflowId, string[]>();
  for (const { id, workflow } of rows) workflows.set(workflow, [...(workflows.get(workflow) ?? []), id]);
  return workflows;
}

function sumOf(a: Removed, b: Removed): Removed {
  const names = Object.keys(NOTHING) as (keyof Removed)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Removed;
}

function countOf(removed: Removed): number {
  return Object.values(removed).reduce((sum, each) => sum + each, 0);
}
