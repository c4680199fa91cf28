import type { App } from '#app';
import { keepNewest, packageVersion, StoreUnavailableError, type WorkflowId } from '#base';
import { counter, gauge, LABELS_MAX, type Metric, metricsText, OTHER } from '#metrics';
import { tellerOf } from './context.ts';
import { needsCountOf } from './needs.ts';
import { processMetrics } from './process-metrics.ts';

/** What has to be read is read at most so often, however many ask. */
const FRESH_MS = 5_000;
/** Pending events that are looked at; more is told as so many. */
const PENDING_MAX = 100_000;
/** Names of workflows never change; those asked for last are kept. */
const NAMES_MAX = 1_000;

interface Waiting {
  readonly count: number;
  readonly oldestAt: number;
}

/** Everything that is measured, as one page: what was counted on the way, and a few questions that an index answers. */
export class MetricsPage {
  readonly #app: App;
  readonly #startedAt: number;
  readonly #names = new Map<string, string>();
  #page: Promise<string> | undefined;
  #pageAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, startedAt: number) {
    this.#app = app;
    this.#startedAt = startedAt;
  }

  text(): Promise<string> {
    const now = this.#app.clock.now();
    if (this.#page !== undefined && now - this.#pageAt < FRESH_MS) return this.#page;
    const page = this.#read();
    // A look that failed is no page: the next one looks again.
    page.catch(() => {
      if (this.#page === page) this.#page = undefined;
    });
    this.#page = page;
    this.#pageAt = now;
    return page;
  }

  async #read(): Promise<string> {
    return metricsText(await this.metrics());
  }

  async metrics(): Promise<readonly Metric[]> {
    const { meters, engine, sandbox } = this.#app;
    const kept = await this.#kept();
    return [
      gauge('pawl_info', 'Which version this is', [{ labels: { version: packageVersion() }, value: 1 }]),
      gauge('pawl_store_writable', '0 while nothing can be written', engine.takesWrites() ? 1 : 0),
      gauge('pawl_draining', '1 while the process is on its way out', this.#app.isDraining() ? 1 : 0),
      ...kept,
      ...meters.metrics((id) => this.#names.get(id) ?? id),
      gauge('pawl_sandbox_children', 'Processes that run scripts', sandbox.pids.length),
      counter('pawl_sandbox_started_total', 'Children ever started', sandbox.counts.started),
      counter('pawl_sandbox_lost_total', 'Children that ended unasked', sandbox.counts.lost),
      ...processMetrics(this.#startedAt),
    ];
  }

  /** What only the rows say. Left out while they cannot be read: what was counted here is wanted then most of all. */
  async #kept(): Promise<readonly Metric[]> {
    const { meters, engine } = this.#app;
    if (this.#app.isShared && !engine.takesWrites()) return [];
    try {
      const waiting = await this.#waiting();
      const deliveries = await this.#deliveries();
      await this.#learnNames([...waiting.keys(), ...deliveries.keys(), ...meters.workflows()]);
      return [
        ...(await this.#questions()),
        ...this.#backlog('events', 'Events that wait for their consumer', waiting),
        ...this.#backlog('deliveries', 'Deliveries that wait for their webhook', deliveries),
      ];
    } catch (error) {
      if (error instanceof StoreUnavailableError) return [];
      throw error;
    }
  }

  /** What waits for a person, and calls of which nobody knows what came. */
  async #questions(): Promise<readonly Metric[]> {
    const teller = tellerOf({ app: this.#app });
    const { kinds } = await needsCountOf(teller);
    const ever = { from: 0, to: teller.now + 1 };
    const calls = await Promise.all(
      CALLS_WAITING.map(async ([word, status]) => ({
        labels: { waits: word },
        value: await teller.history.countTroubled(status, ever),
      })),
    );
    return [
      gauge(
        'pawl_needs',
        'What waits for a person',
        Object.entries(kinds).map(([kind, value]) => ({ labels: { kind }, value })),
      ),
      gauge('pawl_calls_waiting', 'Calls without a known outcome, or without a yes', calls),
    ];
  }

  #backlog(what: string, says: string, waiting: ReadonlyMap<string, Waiting>): readonly Metric[] {
    const { clock } = this.#app;
    const samples = (measure: (each: Waiting) => number) =>
      [...waiting].map(([id, each]) => ({ labels: { workflow: this.#names.get(id) ?? id }, value: measure(each) }));
    return [
      gauge(
        `pawl_${what}_pending`,
        says,
        samples(({ count }) => count),
      ),
      gauge(
        `pawl_${what}_pending_oldest_seconds`,
        'How long the oldest of them has waited',
        samples(({ oldestAt }) => Math.max(0, clock.now() - oldestAt) / 1_000),
      ),
    ];
  }

  /** By workflow, those with most told apart; what lies in a topic that nobody reads waits for nothing. */
  async #waiting(): Promise<ReadonlyMap<string, Waiting>> {
    const { history } = this.#app.engine;
    const pending = Map.groupBy(await history.pendingByTopic(PENDING_MAX), ({ workflow }) => workflow);
    const most = [...pending].sort(([, a], [, b]) => totalOf(b) - totalOf(a));
    const waiting = new Map<string, Waiting>();
    for (const [workflow, topics] of most.slice(0, LABELS_MAX)) {
      const read = await this.#topicsRead(workflow);
      for (const each of topics) if (read.includes(each.topic)) add(waiting, workflow, each);
    }
    for (const [, topics] of most.slice(LABELS_MAX)) for (const each of topics) add(waiting, OTHER, each);
    return waiting;
  }

  async #deliveries(): Promise<ReadonlyMap<string, Waiting>> {
    const found = await this.#app.engine.history.waitingDeliveries(PENDING_MAX);
    const most = [...found].sort((a, b) => b.count - a.count);
    const waiting = new Map<string, Waiting>();
    for (const [i, each] of most.entries()) add(waiting, i < LABELS_MAX ? each.workflow : OTHER, each);
    return waiting;
  }

  async #topicsRead(workflow: WorkflowId): Promise<readonly string[]> {
    const { history } = this.#app.engine;
    const [row] = await history.fetch('workflow', workflow);
    const [script] = row?.activeScriptId == null ? [] : await history.fetch('script', row.activeScriptId);
    return script?.handlers.consumers.flatMap(({ subscribe }) => subscribe) ?? [];
  }

  async #learnNames(ids: readonly string[]): Promise<void> {
    const { history } = this.#app.engine;
    for (const id of new Set(ids)) {
      if (id === OTHER || this.#names.has(id)) continue;
      const [row] = await history.fetch('workflow', id as WorkflowId);
      if (row) keepNewest(this.#names, id, row.name, NAMES_MAX);
    }
  }
}

const CALLS_WAITING = [
  ['checking', 'needs_reconcile'],
  ['unknown', 'indeterminate'],
  ['approval', 'pending'],
] as const;

function totalOf(topics: readonly Waiting[]): number {
  return topics.reduce((sum, { count }) => sum + count, 0);
}

function add(waiting: Map<string, Waiting>, key: string, { count, oldestAt }: Waiting): void {
  const known = waiting.get(key) ?? { count: 0, oldestAt };
  waiting.set(key, { count: known.count + count, oldestAt: Math.min(known.oldestAt, oldestAt) });
}
