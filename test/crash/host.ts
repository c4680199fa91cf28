import assert from 'node:assert/strict';
import { type ExecutionId, RefusedError, type RunId } from '#base';
import type { Fence, Mutation, Workflow } from '#model';
import { SECONDS } from '../support/fixture.ts';
import { Handler } from './handler.ts';
import { PersonAtWork } from './person.ts';
import { type Arrival, HANDLERS } from './scenario.ts';
import { ADA, inCommits, inOneCommit, payloadOf, type Stage, View } from './stage.ts';

/** Far more than any history needs: whoever is not done by then never will be. */
const STEPS_MAX = 200;
const RECONCILE_LEASE_MS = 20 * SECONDS;
const RECONCILE_DELAY_MS = 5 * SECONDS;
const LEASE_MS = 45 * SECONDS;

/**
 * Scheduler, worker, sender and person of one life, one after the other. Each step looks at the database and at the world
 * outside, and at nothing else: what a dead process had in memory is gone.
 */
export class Host {
  readonly #stage: Stage;
  readonly #view: View;
  readonly #person: PersonAtWork;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#view = new View(stage);
    this.#person = new PersonAtWork(stage);
  }

  /** What is there before the history begins. */
  async found(): Promise<void> {
    const withArrivals = this.#stage.scenario.begins !== 'with a workflow';
    let isDone = false;
    while (!isDone) isDone = !((await this.#deploy()) || (withArrivals && (await this.#arrive())));
  }

  async untilQuiet(): Promise<void> {
    for (let step = 0; step < STEPS_MAX; step++) {
      if (await this.#step()) continue;
      if (this.#isQuiet()) return;
      const next = this.#nextTime();
      assert(next !== undefined, `stuck: nothing to do and nothing to wait for\n${this.#picture()}`);
      if (this.#stage.scenario.commits === 'each') await this.#showSignOfLife();
      this.#stage.outside.waitUntil(next);
    }
    assert.fail(`not quiet after ${STEPS_MAX} steps\n${this.#picture()}`);
  }

  async #step(): Promise<boolean> {
    return (
      (await this.#deploy()) ||
      (await this.#arrive()) ||
      (await this.#sweep()) ||
      (await this.#reconcile()) ||
      (await this.#openTask()) ||
      (await this.#session()) ||
      (await this.#person.act())
    );
  }

  async #deploy(): Promise<boolean> {
    const { rows, scenario, outside } = this.#stage;
    const workflow = this.#view.maybeWorkflow();
    if (!workflow) {
      await inOneCommit(this.#stage, (model) => model.createWorkflow('orders', ADA));
      return true;
    }
    const [script] = rows.fetch('scriptsOf', workflow.id);
    if (!script) {
      const handlers = scenario.handlers ?? HANDLERS;
      const version = { major: 1, minor: 0, contentHash: 'first', code: 'export default {}', handlers, by: ADA };
      await inOneCommit(this.#stage, (model) => model.addScript(workflow.id, version));
      return true;
    }
    if (workflow.activeScriptId !== null) return false;
    const schedule = scenario.polls ? { poll: outside.now() } : {};
    await inOneCommit(this.#stage, (model) => model.activateScript(workflow.id, script.id, { by: ADA, schedule }));
    return true;
  }

  /** A sender sends until it hears that it was heard. */
  async #arrive(): Promise<boolean> {
    const { outside, scenario } = this.#stage;
    const arrival = scenario.arrivals?.find((one) => !outside.isAcknowledged(nameOf(one)));
    if (!arrival) return false;
    const { id } = this.#view.workflow();
    await inOneCommit(this.#stage, (model) => {
      if (arrival.kind === 'publish') {
        const { topic, messageId } = arrival;
        model.publishEvents(id, [{ topic, messageId, payload: payloadOf(messageId) }], 'shop');
      } else {
        const { hook, deliveryId, order: body } = arrival;
        model.acceptDelivery(id, { hook, deliveryId, headers: '{}', body });
      }
    });
    outside.acknowledge(nameOf(arrival));
    return true;
  }

  async #sweep(): Promise<boolean> {
    const { rows: reader } = this.#stage;
    const now = this.#stage.outside.now();
    const [execution] = reader.expiredScheduling(now, 1);
    if (execution) await inOneCommit(this.#stage, (model) => model.sweepScheduling(execution.id));
    const [mutation] = execution ? [] : reader.expiredApprovals(now, 1);
    if (mutation) await inOneCommit(this.#stage, (model) => model.expireCall(mutation.id));
    return execution !== undefined || mutation !== undefined;
  }

  async #reconcile(): Promise<boolean> {
    const { engine, rows, outside, scenario } = this.#stage;
    const [mutation] = rows.dueReconciles(outside.now(), 1);
    if (!mutation) return false;
    await inOneCommit(this.#stage, (model) => model.claimReconcile(mutation.id, engine.self, RECONCILE_LEASE_MS));
    const found = outside.lookUp(scenario, mutation);
    const delayMs = found === 'cannot tell' ? RECONCILE_DELAY_MS : await this.#answer(mutation, found);
    if (delayMs !== undefined) await inOneCommit(this.#stage, (model) => model.postponeReconcile(mutation.id, delayMs));
    return true;
  }

  /** An early "not there" is no answer yet: gives how long to wait. */
  async #answer(mutation: Mutation, applied: boolean): Promise<number | undefined> {
    const answer = { resolvedBy: 'reconcile' } as const;
    try {
      await inOneCommit(this.#stage, (model) =>
        model.updateMutationResult(mutation.id, applied ? 'success' : 'failure', { answer, result: '{"ref":1}' }),
      );
      return undefined;
    } catch (error) {
      if (!(error instanceof RefusedError) || error.notBefore === undefined) throw error;
      return error.notBefore - this.#stage.outside.now();
    }
  }

  async #openTask(): Promise<boolean> {
    const [workflow] = this.#stage.rows.maintenanceWithoutTask(1);
    if (workflow === undefined) return false;
    await inOneCommit(this.#stage, (model) => model.createMaintenanceTask(workflow));
    return true;
  }

  async #session(): Promise<boolean> {
    const { rows: reader } = this.#stage;
    const [due] = reader.dueWorkflows(this.#stage.outside.now(), 1);
    if (!due) return false;
    const begun = await this.#begin();
    if (!begun) return true;
    const handler = new Handler(this.#stage, begun.fence);
    let run: RunId | undefined = begun.run;
    while (run !== undefined) run = await handler.drive(run);
    return true;
  }

  /** From the request to the first run: one commit in one process, or one for every hand it goes through. */
  async #begin(): Promise<{ fence: Fence; run: RunId | undefined } | undefined> {
    const { engine } = this.#stage;
    const { id: workflow } = this.#view.workflow();
    let execution: ExecutionId | undefined;
    let epoch = 0;
    let fence: Fence | undefined;
    let run: RunId | undefined;
    await inCommits(this.#stage, [
      (model) => {
        const due = model.scheduleDue(workflow);
        execution = 'execution' in due ? due.execution : undefined;
        return execution !== undefined;
      },
      (model) => 'until' in model.beginScheduling(known(execution)),
      (model) => {
        epoch = model.handOff(known(execution)).epoch;
        return true;
      },
      (model) => {
        for (const message of this.#handOffMessages(known(execution))) model.deleteMessage(message);
        const claimed = model.claimExecution(known(execution), epoch, engine.self);
        fence = 'fence' in claimed ? claimed.fence : undefined;
        return fence !== undefined;
      },
      (model) => {
        const advanced = this.#firstRun(model, known(fence));
        run = 'run' in advanced ? advanced.run : undefined;
        return true;
      },
    ]);
    return fence === undefined ? undefined : { fence, run };
  }

  #firstRun(model: Parameters<Parameters<typeof inOneCommit>[1]>[0], fence: Fence) {
    const { pendingRetryRunId } = this.#view.workflow();
    const isNamed = this.#stage.scenario.commits === 'each' && this.#isRetryDue(pendingRetryRunId);
    return isNamed ? model.createRetryRun(fence, known(pendingRetryRunId)) : model.advanceSession(fence);
  }

  #isRetryDue(pointer: RunId | null): boolean {
    if (pointer === null) return false;
    const { handlerName, workflowId } = this.#view.run(pointer);
    const states = this.#stage.rows.fetch('handlerStates', workflowId);
    const kept = states.find((state) => state.handlerName === handlerName);
    return (kept?.backoffUntil ?? 0) <= this.#stage.outside.now();
  }

  #handOffMessages(execution: ExecutionId) {
    const messages = this.#stage.rows.table('messages');
    const own = messages.filter(({ executionId, type }) => executionId === execution && type === 'execution.scheduled');
    return own.map(({ id }) => id);
  }

  async #showSignOfLife(): Promise<void> {
    const { self } = this.#stage.engine;
    await inOneCommit(this.#stage, (model) => model.renewWorker(self, LEASE_MS));
  }

  #isQuiet(): boolean {
    const workflow = this.#view.workflow();
    if (workflow.status === 'archived') return true;
    return workflow.status === 'active' && this.#isIdle(workflow) && this.#hasNothingOpen(workflow);
  }

  #isIdle(workflow: Workflow): boolean {
    return workflow.dueAt === null && !workflow.maintenance && workflow.pendingRetryRunId === null && !workflow.quiet;
  }

  #hasNothingOpen({ id }: Workflow): boolean {
    const { rows: reader } = this.#stage;
    return (
      this.#view.openExecutions(id).length === 0 &&
      reader.fetch('openLedger', id).length === 0 &&
      reader.fetch('oldestDelivery', id).length === 0 &&
      this.#view.unread().length === 0
    );
  }

  /** When something will be due that is not due now. */
  #nextTime(): number | undefined {
    const { rows: reader } = this.#stage;
    const executions = this.#view.openExecutions(this.#view.workflow().id);
    const times = [
      reader.nextDueAt(),
      ...this.#view.mutations().map((row) => (row.reconcileAt === null ? null : lookUpTime(row))),
      ...executions.map((execution) => execution.schedulingUntil),
      this.#person.nextTime(),
    ];
    const later = times.filter((at) => at !== null).filter((at) => at > this.#stage.outside.now());
    return later.length > 0 ? Math.min(...later) : undefined;
  }

  #picture(): string {
    const { rows: reader } = this.#stage;
    const tables = ['workflows', 'executions', 'handler_runs', 'mutations', 'events', 'handler_states'] as const;
    return tables.map((name) => `${name}: ${JSON.stringify(reader.table(name), null, 1)}`).join('\n');
  }
}

function lookUpTime({ reconcileAt, reconcileUntil }: Mutation): number {
  return Math.max(reconcileAt ?? 0, reconcileUntil ?? 0);
}

function known<T>(value: T | null | undefined): T {
  assert(value !== null && value !== undefined, 'a step before it gave no answer');
  return value;
}

function nameOf(arrival: Arrival): string {
  return arrival.kind === 'publish' ? `${arrival.topic} ${arrival.messageId}` : `${arrival.hook} ${arrival.deliveryId}`;
}
