import type { WorkerId, WorkflowId } from '#base';
import type { CommandName, CommandOf, Publish, ReplyTo } from '#model';
import type { LaterReader } from '#store';
import { Arrivals } from './arrivals.ts';
import type { CommitQueue, Step } from './commit-queue.ts';
import { ModelMethods } from './model-methods.ts';
import {
  type OrphanedEvents,
  orphanedReservedEvents,
  type RecoveryReport,
  recoverExecutions,
  recoverMaintenance,
} from './recovery.ts';

/** Methods that are steps of a transaction somebody else began. */
export class ModelSteps extends ModelMethods<'step'> {
  readonly #step: Step;

  constructor(step: Step) {
    super();
    this.#step = step;
  }

  protected override send<N extends CommandName>(command: CommandOf<N>): ReplyTo<N> {
    return this.#step(command);
  }
}

/** The one module that owns every transition of runs, events, mutations, sessions and executions; each is one transaction. */
export class ExecutionModelManager extends ModelMethods<'alone'> {
  /** Who waits for what is published. */
  readonly arrivals = new Arrivals();
  readonly #queue: CommitQueue;
  readonly #reader: LaterReader;

  constructor(queue: CommitQueue, reader: LaterReader) {
    super();
    this.#queue = queue;
    this.#reader = reader;
  }

  protected override send<N extends CommandName>(command: CommandOf<N>): Promise<ReplyTo<N>> {
    return this.#queue.submit((step) => step(command));
  }

  /** Where a session waits for it, with what that makes of it. */
  override publishEvents(
    workflow: WorkflowId,
    publishes: readonly Publish[],
    by: string,
  ): Promise<ReplyTo<'publishEvents'>> {
    return this.arrivals.publish(workflow, publishes, by, () => super.publishEvents(workflow, publishes, by));
  }

  /** Several transitions in one transaction: each sees the ones before it, and either all are durable or none. */
  together<T>(steps: (model: ModelSteps) => T): Promise<T> {
    return this.#queue.submit((step) => steps(new ModelSteps(step)));
  }

  /** Runs that were active when their owner died. Idempotent: what one try recovers the next one no longer finds. */
  recoverCrashedRuns(self: WorkerId): Promise<RecoveryReport> {
    return recoverExecutions(this, this.#reader, self, 'with an active run');
  }

  /** Sessions left open without an active run: all their runs had committed. */
  recoverUnfinishedSessions(self: WorkerId): Promise<RecoveryReport> {
    return recoverExecutions(this, this.#reader, self, 'without an active run');
  }

  /** A failure put the maintenance flag, and the process died before the task was made. */
  recoverMaintenanceMode(): Promise<number> {
    return recoverMaintenance(this, this.#reader);
  }

  /** Reserved events that belong to nobody are a bug of the model: shown and held, never released silently. */
  assertNoOrphanedReservedEvents(): Promise<OrphanedEvents> {
    return orphanedReservedEvents(this, this.#reader);
  }
}
