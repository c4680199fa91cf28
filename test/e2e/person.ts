import assert from 'node:assert/strict';
import type { App } from '#app';
import type { EventId, MutationId, RunId, WorkflowId } from '#base';

export const BY = 'ada';

export type Answer = 'happened' | 'did_not_happen' | 'skip' | 'check_again';

/** What a person does to an engine, and how: a test says only what. */
export interface Person {
  trigger(workflow: WorkflowId): Promise<void>;
  pause(workflow: WorkflowId): Promise<void>;
  resume(workflow: WorkflowId): Promise<void>;
  cancel(workflow: WorkflowId): Promise<void>;
  retry(workflow: WorkflowId): Promise<void>;
  resolve(output: MutationId, answer: Answer, result?: unknown): Promise<void>;
  setAside(output: MutationId): Promise<void>;
  approve(output: MutationId): Promise<void>;
  reject(output: MutationId, how: 'skip' | 'park'): Promise<void>;
  skip(...events: EventId[]): Promise<void>;
  park(...events: EventId[]): Promise<void>;
  unpark(...events: EventId[]): Promise<void>;
  redo(...events: EventId[]): Promise<void>;
  finish(run: RunId): Promise<void>;
  cure(connection: string): Promise<void>;
}

/** Straight through the one door. */
export class PersonAtTheDoor implements Person {
  readonly #app: () => App;

  constructor(app: () => App) {
    this.#app = app;
  }

  get #manager() {
    return this.#app().engine.manager;
  }

  async trigger(workflow: WorkflowId): Promise<void> {
    await this.#manager.requestExecution(workflow, 'manual', BY);
  }

  async pause(workflow: WorkflowId): Promise<void> {
    await this.#manager.pauseWorkflow(workflow, BY);
  }

  async resume(workflow: WorkflowId): Promise<void> {
    await this.#manager.resumeWorkflow(workflow, BY);
  }

  async cancel(workflow: WorkflowId): Promise<void> {
    const [open] = await this.#app().engine.reader.fetch('openExecutions', workflow);
    assert.ok(open, 'nothing is under way');
    await this.#manager.cancelExecution(open.id, BY);
  }

  async retry(workflow: WorkflowId): Promise<void> {
    await this.#manager.exitMaintenanceMode(workflow, BY, false);
  }

  async resolve(output: MutationId, answer: Answer, result?: unknown): Promise<void> {
    if (answer === 'skip') await this.#manager.skipMutation(output, BY);
    else if (answer === 'check_again') await this.#manager.checkAgain(output, BY);
    else if (answer === 'happened') {
      await this.#manager.updateMutationResult(output, 'success', {
        answer: { resolvedBy: 'user_assert_applied', by: BY },
        result: JSON.stringify(result),
      });
    } else {
      await this.#manager.updateMutationResult(output, 'failure', {
        answer: { resolvedBy: 'user_assert_failed', by: BY },
      });
    }
  }

  async setAside(output: MutationId): Promise<void> {
    await this.#manager.setAside(output, BY);
  }

  async approve(output: MutationId): Promise<void> {
    await this.#manager.approveCall(output, BY);
  }

  async reject(output: MutationId, how: 'skip' | 'park'): Promise<void> {
    await this.#manager.rejectCall(output, how, BY);
  }

  async skip(...events: EventId[]): Promise<void> {
    await this.#manager.skipEvents(events, BY);
  }

  async park(...events: EventId[]): Promise<void> {
    await this.#manager.parkEvents(events, BY);
  }

  async unpark(...events: EventId[]): Promise<void> {
    await this.#manager.unparkEvents(events, BY);
  }

  async redo(...events: EventId[]): Promise<void> {
    await this.#manager.redoEvents(events, BY);
  }

  async finish(run: RunId): Promise<void> {
    await this.#manager.finishWithoutNext(run, BY);
  }

  async cure(connection: string): Promise<void> {
    await this.#manager.cureConnection(connection, BY);
  }
}
