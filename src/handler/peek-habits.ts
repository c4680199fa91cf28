import { keepNewest, type WorkflowId } from '#base';
import type { Event, Run } from '#model';

/** A first page that a run asks for. */
export interface Page {
  readonly topic: string;
  readonly limit: number;
  /** As its script said it. */
  readonly args: string;
  /** It is all that the script asked for, and not only the first of several pages. */
  readonly isWhole: boolean;
}

/** A consumer of a version. */
export type Whose = Pick<Run, 'workflowId' | 'scriptId' | 'handlerName'>;

/** A page that was read before the script asked for it. */
export interface Foreseen extends Page {
  readonly events: readonly SeenEvent[];
}

/** An event as a script is shown it; one that is not there yet has no place among those that wait. */
export type SeenEvent = Pick<Event, 'id' | 'topic' | 'messageId' | 'payload' | 'status' | 'createdAt'> & {
  readonly pendingSeq: number | undefined;
};

interface Last {
  readonly page: Page;
  readonly isHabit: boolean;
  /** Whose run made a call of it and asked for nothing else. */
  readonly allOf?: Whose | undefined;
}

const WORKFLOWS_MAX = 10_000;

/**
 * What the runs of a workflow look at first. Most scripts begin with the same look each time, so it can be read with the run itself;
 * one that asked for the same twice is taken to go on so until it does not.
 */
export class PeekHabits {
  readonly #last = new Map<WorkflowId, Last>();

  expected(workflow: WorkflowId): Page | undefined {
    const last = this.#last.get(workflow);
    return last?.isHabit ? last.page : undefined;
  }

  /** What a consumer will look at, where that is most likely all that it does before its call. */
  allOf({ workflowId, handlerName }: Whose): Page | undefined {
    return this.lastAll(workflowId)?.handlerName === handlerName ? this.expected(workflowId) : undefined;
  }

  /** Whose run was the last of which that can be said. */
  lastAll(workflow: WorkflowId): Whose | undefined {
    return this.#last.get(workflow)?.allOf;
  }

  /** Whether the look was all that a consumer asked for, and it made a call of it. */
  wasAll({ workflowId, scriptId, handlerName }: Whose, isAll: boolean): void {
    const last = this.#last.get(workflowId);
    if (last) this.#last.set(workflowId, { ...last, allOf: isAll ? { workflowId, scriptId, handlerName } : undefined });
  }

  asked(workflow: WorkflowId, page: Page): void {
    const last = this.#last.get(workflow)?.page;
    const isHabit = last?.topic === page.topic && last.limit === page.limit && last.isWhole === page.isWhole;
    keepNewest(this.#last, workflow, { page, isHabit }, WORKFLOWS_MAX);
  }

  /** It asked for what was expected. */
  kept(workflow: WorkflowId, { topic, limit, args, isWhole }: Page): void {
    keepNewest(this.#last, workflow, { page: { topic, limit, args, isWhole }, isHabit: true }, WORKFLOWS_MAX);
  }
}
