import type { App } from '#app';
import { RefusedError } from '#base';
import type { Event, Mutation, Rows, Workflow } from '#model';
import { ADA, approve, byAge, claim, deploy } from './person.ts';
import { SHOP } from './shapes.ts';
import type { Stage } from './stage.ts';

/**
 * When nothing goes wrong any more: people do what they are asked, and nothing else. They see what the engine shows: holds, open
 * calls, cases. What is not shown is not done, and is found to be missing.
 */
export class Tidying {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** One thing that somebody is asked to do; undefined when nobody is asked anything. */
  next(): (() => Promise<unknown>) | undefined {
    const { app, opened, isUp } = this.#stage.front;
    if (!app || !opened || !isUp) return undefined;
    const rows = opened.rows();
    for (const workflow of byAge(rows.workflows.values())) {
      const help = this.#help(app, rows, workflow);
      if (help) return help;
    }
    return undefined;
  }

  #help(app: App, rows: Rows, workflow: Workflow): (() => Promise<unknown>) | undefined {
    const { manager } = app.engine;
    const { id, holds, heldConnections, grantMissing, maintenanceRunId, quiet } = workflow;
    const calls = byAge(rows.mutations.matching((row) => row.workflowId === id));
    const waiting = calls.find((row) => isWaiting(row, this.#stage.loop.now()));
    if (waiting) return () => approve({ stage: this.#stage, app }, waiting);
    if (grantMissing) return () => manager.approveGrant(id, ADA);
    if (heldConnections.length > 0) return () => manager.cureConnection(SHOP, ADA);
    const asked = calls.find((row) => row.status === 'indeterminate');
    if (asked) return () => this.#answer(app, asked);
    const isTold = rows.tasks.values().some((task) => task.status === 'open' && task.runId === maintenanceRunId);
    if (isTold) return () => this.#deploy(app, rows, workflow);
    const mayResume = !holds.includes('unknown') && (holds.includes('user') || holds.includes('error'));
    if (mayResume) return () => manager.resumeWorkflow(id, ADA);
    if (this.#isLess(rows, workflow)) return () => this.#deploy(app, rows, workflow);
    if (holds.length > 0 || workflow.maintenance) return undefined;
    const isIdle = rows.executions.matching((row) => row.workflowId === id && row.endedAt === null).length === 0;
    if (quiet && isIdle) return () => manager.requestExecution(id, 'manual', ADA);
    const rested = rows.events.matching((event) => event.workflowId === id && hasRested(rows, event));
    if (rested.length > 0 && isIdle) return () => manager.requestExecution(id, 'manual', ADA);
    return undefined;
  }

  /** What is not there yet may still come: then they look again when it can be known. */
  async #answer(app: App, row: Mutation): Promise<void> {
    try {
      await claim({ stage: this.#stage, app }, row, this.#stage.outside.shows(row) ? 'applied' : 'failed');
    } catch (error) {
      if (!(error instanceof RefusedError) || error.notBefore === undefined) throw error;
      await this.#stage.loop.wait(error.notBefore - this.#stage.loop.now());
    }
  }

  #deploy(app: App, rows: Rows, workflow: Workflow): Promise<unknown> {
    const which = byAge(rows.workflows.values()).findIndex(({ id }) => id === workflow.id);
    return deploy({ stage: this.#stage, app, rows, which }, { less: false, skipPending: true }) ?? Promise.resolve();
  }

  #isLess(rows: Rows, { activeScriptId }: Workflow): boolean {
    const active = activeScriptId === null ? undefined : rows.scripts.get(activeScriptId);
    return active?.contentHash.endsWith('less') ?? false;
  }
}

/** A consumer saw it and took nothing: that is its right, and nobody is asked. These people ask it to look again. */
function hasRested(rows: Rows, event: Event): boolean {
  if (event.status !== 'pending') return false;
  const kept = rows.handlerStates.get(`${event.workflowId} ${consumerOf(rows, event)}`);
  return kept?.restedSeq != null && kept.restedSeq >= event.pendingSeq;
}

/** Nobody has approved it, and it is not too late. */
function isWaiting({ status, approvedAt, approvalExpiresAt }: Mutation, now: number): boolean {
  return status === 'pending' && approvedAt === null && (approvalExpiresAt ?? 0) > now;
}

function consumerOf(rows: Rows, { workflowId, topic }: Event): string | undefined {
  const active = rows.workflows.get(workflowId)?.activeScriptId;
  const handlers = active ? rows.scripts.get(active)?.handlers : undefined;
  return handlers?.consumers.find(({ subscribe }) => subscribe.includes(topic))?.name;
}

/** What is left to do, in words; nothing, when everything that was accepted has come to an end. */
export function unfinished(rows: Rows): string[] {
  const left: string[] = [];
  for (const { id, name, holds, maintenance, pendingRetryRunId } of rows.workflows.values()) {
    if (holds.length > 0) left.push(`workflow ${name} is held: ${holds.join(', ')}`);
    if (maintenance) left.push(`workflow ${name} waits for a repair`);
    if (pendingRetryRunId !== null) left.push(`run ${pendingRetryRunId} is to be retried`);
    const open = rows.executions.matching((row) => row.workflowId === id && row.endedAt === null);
    left.push(...open.map((row) => `execution ${row.id} is ${row.status}`));
  }
  for (const { id, status } of rows.runs.values()) if (status === 'active') left.push(`run ${id} is active`);
  for (const row of rows.mutations.values())
    if (row.resolvedBy === null || row.setAsideAt !== null) left.push(`call ${row.id} is ${row.status}`);
  for (const { id, status } of rows.deliveries.values())
    if (status !== 'done') left.push(`delivery ${id} is ${status}`);
  for (const event of rows.events.values()) {
    if (event.status === 'reserved') left.push(`event ${event.id} is reserved`);
    if (event.status === 'pending' && consumerOf(rows, event)) left.push(`event ${event.id} is pending`);
  }
  return left;
}
