import { reach, StoreUnavailableError } from '#base';
import { applyWrite, INVARIANTS, Rows, type Write } from '#model';
import type { Store, Unit, UnitOutcome } from '#store';
import { type Codes, MemoryReader } from '../support/memory-reader.ts';
import { sourceOf } from '../support/memory-store.ts';
import type { Disk, Opened } from './disk.ts';

/** The tables as plain rows: what each write means, without a disk. */
export class MemoryDisk implements Disk {
  rows: Rows;
  readonly codes: Codes;

  constructor(founded?: MemoryDisk) {
    this.rows = founded?.rows.copy() ?? new Rows();
    this.codes = new Map(founded?.codes);
  }

  open(): Opened {
    const rows = () => this.rows;
    const store = new MemoryStore(this);
    return {
      store,
      reader: new MemoryReader(rows, this.codes),
      isQuick: true,
      rows,
      changed: () => undefined,
      setWritable: (isWritable) => {
        store.isWritable = isWritable;
      },
      offences: () => offencesIn(this.rows),
    };
  }

  /** Every commit of it is as good as synced. */
  losePower(): void {
    // Nothing was answered that is not here.
  }

  close(): void {
    // There is nothing to let go of.
  }
}

function offencesIn(rows: Rows): string[] {
  const offences: string[] = [];
  for (const { offenders, says } of INVARIANTS)
    for (const id of offenders(rows)) offences.push(`${id} breaks: ${says}`);
  return offences;
}

/** As the store on SQLite does it: each unit under its own savepoint, all of them in one commit, and places to die before and after. */
class MemoryStore implements Store {
  readonly #disk: MemoryDisk;
  isWritable = true;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    let working = this.#disk.rows;
    const added: Write[] = [];
    const outcomes = units.map((unit): UnitOutcome => {
      try {
        const writes = unit.decide(sourceOf(working));
        if (writes.length === 0) return { kind: 'done', writes };
        this.#mustBeWritable();
        const applied = working.copy();
        for (const write of writes) applyWrite(applied, write);
        working = applied;
        added.push(...writes);
        return { kind: 'done', writes };
      } catch (error) {
        if (error instanceof StoreUnavailableError || !(error instanceof Error)) throw error;
        return { kind: 'refused', error };
      }
    });
    if (added.length === 0) return outcomes;
    reach('before-commit');
    this.#disk.rows = working;
    for (const write of added)
      if (write.set === 'script.added')
        this.#disk.codes.set(write.row.id, { code: write.code, manifest: write.manifest });
    reach('after-commit');
    return outcomes;
  }

  async probe(): Promise<void> {
    this.#mustBeWritable();
  }

  #mustBeWritable(): void {
    if (this.isWritable) return;
    throw new StoreUnavailableError({ code: 'store-read-only', message: 'nothing was written', why: '', next: [] });
  }

  isRestored(): boolean {
    return false;
  }

  async forgetRestored(): Promise<void> {
    // It never is.
  }

  async close(): Promise<void> {
    // There is nothing to let go of.
  }
}
