import { keepNewest, type WorkflowId } from '#base';
import type { Event } from '#model';

/** A first page that a run asks for. */
export interface Page {
  readonly topic: string;
  readonly limit: number;
  /** As its script said it. */
  readonly args: string;
}

/** A page that was read before the script asked for it. */
export interface Foreseen extends Page {
  readonly events: readonly Event[];
}

/** Of a large page more is read than a script that changes its mind should cost. */
const LIMIT_MAX = 10;
const WORKFLOWS_MAX = 10_000;

/**
 * What the runs of a workflow look at first. Most scripts begin with the same look each time, so it can be read with the run itself;
 * one that asked for the same twice is taken to go on so until it does not.
 */
export class PeekHabits {
  readonly #last = new Map<WorkflowId, { readonly page: Page; readonly isHabit: boolean }>();

  expected(workflow: WorkflowId): Page | undefined {
    const last = this.#last.get(workflow);
    return last?.isHabit ? last.page : undefined;
  }

  asked(workflow: WorkflowId, page: Page): void {
    const last = this.#last.get(workflow)?.page;
    const isHabit = last?.topic === page.topic && last.limit === page.limit && page.limit <= LIMIT_MAX;
    keepNewest(this.#last, workflow, { page, isHabit }, WORKFLOWS_MAX);
  }
}
