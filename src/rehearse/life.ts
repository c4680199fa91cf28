import {
  assert,
  type Clock,
  ID_PREFIX,
  type IdKind,
  type IdOf,
  type IdSource,
  RefusedError,
  type WorkflowId,
} from '#base';
import { type Engine, openEngine } from '#execution';
import { type HandlerHost, PeekHabits, ScriptShelf } from '#handler';
import { Ledger } from '#ledger';
import type { Mutation } from '#model';
import type { SandboxPool } from '#sandbox';
import { runDueSession } from '#session';
import type { CapturedConnections } from './captured-connections.ts';

/** The person who is asked in a rehearsal, and says what is true. */
export const YOU = 'you, in a rehearsal';

/** Far more than any rehearsal needs; whoever is not done by then never will be. */
const STEPS_MAX = 20_000;
/** A consumer that only ever wakes to rest again is not waited for for ever. */
const WAITS_MAX = 50;
/** What is due later than that is no part of what is rehearsed. */
const WAIT_MS_MAX = 25 * 3_600_000;

/** Time that passes only when there is nothing else to do. */
export class RehearsalClock implements Clock {
  #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  waitUntil(at: number): void {
    this.#now = Math.max(this.#now, at);
  }
}

export interface LifeOptions {
  readonly folder: string;
  /** Which incarnation on its folder: its ids sort after those of the ones before. */
  readonly number: number;
  readonly clock: RehearsalClock;
  readonly connections: CapturedConnections;
  readonly sandbox: SandboxPool;
}

/** One incarnation of the real engine on a folder of its own, driven step by step until nothing is left to do. */
export class Life {
  readonly engine: Engine;
  readonly #options: LifeOptions;
  readonly #host: HandlerHost;
  readonly #ledger: Ledger;
  /** Unknown outcomes that a person was asked about, and calls they approved. */
  readonly asked = new Set<Mutation['id']>();
  readonly approved = new Set<Mutation['id']>();
  #waits = 0;

  private constructor(engine: Engine, options: LifeOptions) {
    const { clock, connections, sandbox } = options;
    this.engine = engine;
    this.#options = options;
    this.#ledger = new Ledger({ engine, connections, clock });
    const scripts = new ScriptShelf(engine.reader);
    const around = { peeks: new PeekHabits(), clock, isDraining: () => false, togetherMs: 0 };
    this.#host = { engine, sandbox, ledger: this.#ledger, scripts, ...around };
  }

  static async open(options: LifeOptions): Promise<Life> {
    const { folder, clock, number } = options;
    const engine = await openEngine({ dataDir: folder, clock, ids: idsOfLife(number), onFatal: () => undefined });
    return new Life(engine, options);
  }

  async untilQuiet(workflow: WorkflowId): Promise<void> {
    for (let step = 0; step < STEPS_MAX; step++) {
      if ((await this.#session(workflow)) || (await this.#lookUp()) || (await this.#answer(workflow))) continue;
      const at = await this.#nextTime(workflow);
      if (at === undefined) return;
      this.#options.clock.waitUntil(at);
    }
    throw new Error(`bug: the rehearsal is not done after ${STEPS_MAX} steps`);
  }

  async #session(workflow: WorkflowId): Promise<boolean> {
    const { engine } = this;
    const [due] = await engine.reader.dueWorkflows(this.#options.clock.now(), 1);
    if (!due) return false;
    return (await runDueSession(this.#host, workflow, engine.self)) !== undefined;
  }

  async #lookUp(): Promise<boolean> {
    const [due] = await this.engine.reader.dueReconciles(this.#options.clock.now(), 1);
    if (due) await this.#ledger.reconcile(due.id);
    return due !== undefined;
  }

  /** Plays the person: approves what waits for it, and says of an unknown outcome what is true. */
  async #answer(workflow: WorkflowId): Promise<boolean> {
    const open = await this.engine.reader.fetch('openLedger', workflow);
    const waiting = open.find((row) => row.status === 'pending' && row.approvedAt === null);
    if (waiting) {
      this.approved.add(waiting.id);
      await this.engine.manager.approveCall(waiting.id, YOU);
      return true;
    }
    const unknown = open.find((row) => row.status === 'indeterminate');
    return unknown !== undefined && this.#resolve(unknown);
  }

  async #resolve(row: Mutation): Promise<boolean> {
    this.asked.add(row.id);
    const { manager } = this.engine;
    const captured = this.#options.connections.captured(row.idempotencyKey);
    try {
      if (captured) {
        const result = JSON.stringify(captured.result ?? null);
        const answer = { resolvedBy: 'user_assert_applied', by: YOU } as const;
        await manager.updateMutationResult(row.id, 'success', { answer, result });
      } else {
        const answer = { resolvedBy: 'user_assert_failed', by: YOU } as const;
        await manager.updateMutationResult(row.id, 'failure', { answer });
      }
    } catch (error) {
      if (!(error instanceof RefusedError) || error.notBefore === undefined) throw error;
      this.#options.clock.waitUntil(error.notBefore);
    }
    return true;
  }

  /** When something will be due that is not due now; undefined when nothing of the rehearsal is. */
  async #nextTime(workflow: WorkflowId): Promise<number | undefined> {
    const { reader } = this.engine;
    const [row] = await reader.fetch('workflow', workflow);
    assert(row, `workflow ${workflow} is missing`);
    const at = await reader.nextWakeAt();
    if (at === null || row.maintenance || row.holds.includes('error')) return undefined;
    if (at > this.#options.clock.now() + WAIT_MS_MAX || this.#waits >= WAITS_MAX) return undefined;
    this.#waits++;
    return at;
  }
}

/** The same history always makes the same ids, so that chance inside a script is the same too. */
function idsOfLife(life: number): IdSource {
  let count = 0;
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      count++;
      return `${ID_PREFIX[kind]}_${String(life).padStart(2, '0')}${String(count).padStart(8, '0')}` as IdOf<K>;
    },
  };
}
