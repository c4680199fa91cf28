import { keepNewest, type WorkflowId } from '#base';
import type { Event } from '#model';

/** A first page that a run asks for. */
export interface Page {
  readonly topic: string;
  readonly limit: number;
  /** As its script said it. */
  readonly args: string;
  /** It is all that the script asked for, and not only the first of several pages. */
  readonly isWhole: boolean;
}

/** A page that was read before the script asked for it. */
export interface Foreseen extends Page {
  readonly events: readonly Event[];
}

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
    const isHabit = last?.topic === page.topic && last.limit === page.limit && last.isWhole === page.isWhole;
    keepNewest(this.#last, workflow, { page, isHabit }, WORKFLOWS_MAX);
  }

  /** It asked for what was expected. */
  kept(workflow: WorkflowId, { topic, limit, args, isWhole }: Page): void {
    keepNewest(this.#last, workflow, { page: { topic, limit, args, isWhole }, isHabit: true }, WORKFLOWS_MAX);
  }
}
