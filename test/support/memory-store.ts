import { applyWrite, Draft, type LookupName, type Lookups, Rows, type Source } from '#model';
import type { Store, Unit, UnitOutcome } from '#store';

/** The tables as plain rows, behind the same seam as a database: what a write means, without a disk. */
export class MemoryStore implements Store {
  rows = new Rows();

  commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    return Promise.resolve(units.map((unit) => this.#commitOne(unit)));
  }

  probe(): Promise<void> {
    return Promise.resolve();
  }

  isRestored(): boolean {
    return false;
  }

  forgetRestored(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #commitOne(unit: Unit): UnitOutcome {
    const before = this.rows.copy();
    try {
      const writes = unit.decide(sourceOf(this.rows));
      for (const write of writes) applyWrite(this.rows, write);
      return { kind: 'done', writes };
    } catch (error) {
      this.rows = before;
      if (error instanceof Error) return { kind: 'refused', error };
      throw error;
    }
  }
}

const NO_IDS = {
  next(): never {
    throw new Error('a reader makes no ids');
  },
};

/** Lookups answered from rows that are the whole world. */
export function sourceOf(rows: Rows): Source {
  const world = new Draft(0, NO_IDS, null, rows);
  return {
    fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']) {
      if (name === 'heads') return headsIn(world, rows, ...(by as Lookups['heads']['by'])) as Lookups[N]['gives'][];
      return world.find(name, ...by);
    },
  };
}

function headsIn(world: Draft, rows: Rows, workflowId: Lookups['heads']['by'][0]) {
  const workflow = rows.workflows.get(workflowId);
  return workflow ? world.headsOf(workflow) : [];
}
