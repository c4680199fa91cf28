import assert from 'node:assert/strict';
import type { EventId, MutationId, RunId, WorkflowId } from '#base';
import type { Engine, ExecutionModelManager } from '#execution';
import type { Event, Execution, Fence, Mutation, Run, Workflow } from '#model';
import type { Reader } from '#store';
import type { Outside } from './outside.ts';
import type { Scenario } from './scenario.ts';
import type { Witness } from './witness.ts';

/** What everybody who plays in one life has in hand. */
export interface Stage {
  readonly engine: Engine;
  /** The same tables, at once. */
  readonly rows: Reader;
  readonly outside: Outside;
  readonly scenario: Scenario;
  readonly witness: Witness;
}

export type Steps = Parameters<Parameters<ExecutionModelManager['together']>[0]>[0];
/** One transition; false when those after it no longer make sense. */
export type Step = (model: Steps) => boolean;

export const ADA = 'ada';
const PAGE = 100;

/** All steps in one commit, or each in its own, as the scenario says. Tells whether all of them were made. */
export async function inCommits({ engine, scenario }: Stage, steps: readonly Step[]): Promise<boolean> {
  if (scenario.commits === 'few') return engine.manager.together((model) => steps.every((step) => step(model)));
  for (const step of steps) if (!(await engine.manager.together(step))) return false;
  return true;
}

export async function inOneCommit<T>({ engine }: Stage, step: (model: Steps) => T): Promise<T> {
  return engine.manager.together(step);
}

/** The rows as the last commit left them. */
export class View {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get #reader() {
    return this.#stage.rows;
  }

  /** Every history has one. */
  maybeWorkflow(): Workflow | undefined {
    return this.#reader.table('workflows')[0];
  }

  workflow(): Workflow {
    const workflow = this.maybeWorkflow();
    assert(workflow, 'there is no workflow yet');
    return workflow;
  }

  run(id: RunId): Run {
    return this.#only(this.#reader.fetch('run', id), id);
  }

  event(id: EventId): Event {
    return this.#only(this.#reader.fetch('event', id), id);
  }

  mutation(id: MutationId): Mutation {
    return this.#only(this.#reader.fetch('mutation', id), id);
  }

  ledgerOf(run: Run): Mutation | undefined {
    return this.#reader.fetch('ledger', run.rootRunId)[0];
  }

  execution(fence: Fence): Execution {
    return this.#only(this.#reader.fetch('execution', fence.execution), fence.execution);
  }

  openExecutions(workflow: WorkflowId): readonly Execution[] {
    return this.#reader.fetch('openExecutions', workflow);
  }

  mutations(): readonly Mutation[] {
    return this.#reader.table('mutations');
  }

  events(): readonly Event[] {
    return this.#reader.table('events');
  }

  pending(workflow: WorkflowId, topics: readonly string[]): readonly Event[] {
    return topics.flatMap((topic) => this.#reader.listEvents(workflow, { status: 'pending', topic, limit: PAGE }));
  }

  /** What consumers have yet to read; notes have no reader. */
  unread(): readonly Event[] {
    return this.events().filter(({ topic, status }) => topic !== 'note' && status === 'pending');
  }

  /** Whether a person has done this already: what they did not see happen they would do again. */
  hasDone(act: string): boolean {
    return this.#reader.table('audit_log').some((entry) => entry.act === act);
  }

  #only<T>(rows: readonly T[], id: string): T {
    const [row] = rows;
    assert(row, `${id} is not there`);
    return row;
  }
}

export function payloadOf(messageId: string): string {
  return JSON.stringify({ order: messageId });
}
