import { keepNewest, type WorkflowId } from '#base';
import type { Engine } from '#execution';

const NAMES_MAX = 10_000;

/** What workflows are called. A name never changes, so each is asked for once. */
export class WorkflowNames {
  readonly #reader: Pick<Engine['reader'], 'fetch'>;
  readonly #names = new Map<WorkflowId, string>();

  constructor({ reader }: { readonly reader: Pick<Engine['reader'], 'fetch'> }) {
    this.#reader = reader;
  }

  /** Undefined where there is no such workflow. */
  async of(workflow: WorkflowId): Promise<string | undefined> {
    const known = this.#names.get(workflow);
    if (known !== undefined) return known;
    const [row] = await this.#reader.fetch('workflow', workflow);
    if (row !== undefined) keepNewest(this.#names, workflow, row.name, NAMES_MAX);
    return row?.name;
  }
}
