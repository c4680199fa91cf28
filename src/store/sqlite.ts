import { reach, StoreFailedError } from '#base';
import type { Write } from '#model';
import { type Apply, prepareApply } from './apply.ts';
import { isSqliteError, storeError } from './failures.ts';
import { prepareSource, type RememberingSource } from './fetch.ts';
import type { ProcessLock } from './process-lock.ts';
import { isMarkedRestored, unmarkRestored } from './restored-mark.ts';
import type { Query, SqliteDatabase } from './sqlite-database.ts';
import type { Store, Unit, UnitOutcome } from './store.ts';

/** As much as a batch of commands needs: a disk with less left is still full. */
const PROBE_CHARS = 64 * 1_024;

/** The store on one SQLite file. Everything between BEGIN and COMMIT is synchronous, so nothing can come in between. */
export class SqliteStore implements Store {
  readonly #db: SqliteDatabase;
  readonly #lock: ProcessLock;
  readonly #source: RememberingSource;
  readonly #apply: Apply;
  readonly #begin: Query;
  readonly #commit: Query;
  readonly #savepoint: Query;
  readonly #release: Query;
  readonly #rollbackTo: Query;

  constructor(db: SqliteDatabase, lock: ProcessLock) {
    this.#db = db;
    this.#lock = lock;
    this.#source = prepareSource(db);
    this.#apply = prepareApply(db);
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#savepoint = db.prepare('SAVEPOINT unit');
    this.#release = db.prepare('RELEASE unit');
    this.#rollbackTo = db.prepare('ROLLBACK TO unit');
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    this.#mustBeOpen();
    const outcomes = this.#guarded(() => {
      this.#begin.run([]);
      const decided = units.map((unit) => this.#decide(unit));
      if (decided.every((outcome) => outcome.kind !== 'done' || outcome.writes.length === 0)) {
        this.#db.exec('ROLLBACK');
        return { decided, wrote: false };
      }
      return { decided, wrote: true };
    });
    if (outcomes.wrote) {
      this.#reach('before-commit');
      this.#guarded(() => this.#commit.run([]));
      this.#reach('after-commit');
    }
    return outcomes.decided;
  }

  async probe(): Promise<void> {
    this.#mustBeOpen();
    this.#guarded(() => {
      this.#db.exec(`UPDATE schema_version SET probe = '${'.'.repeat(PROBE_CHARS)}'`);
      this.#db.exec(`UPDATE schema_version SET probe = ''`);
    });
  }

  isRestored(): boolean {
    return isMarkedRestored(this.#db);
  }

  async forgetRestored(): Promise<void> {
    this.#guarded(() => unmarkRestored(this.#db));
  }

  async close(): Promise<void> {
    this.#db.close();
    this.#lock.release();
  }

  /** Reads come before the first write of a unit, so a refusal has nothing to undo. */
  #decide(unit: Unit): UnitOutcome {
    let writes: readonly Write[];
    try {
      writes = auditLast(unit.decide(this.#source));
    } catch (error) {
      return refusedBy(error);
    }
    if (writes.length === 0) return { kind: 'done', writes };
    this.#savepoint.run([]);
    try {
      for (const write of writes) this.#apply(write);
    } catch (error) {
      const outcome = refusedBy(error);
      this.#rollbackTo.run([]);
      this.#release.run([]);
      return outcome;
    }
    this.#release.run([]);
    return { kind: 'done', writes };
  }

  /** The database itself failed: nothing of the batch may stay. SQLite has often rolled back by then. */
  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const failure = storeError(error, this.#db.path);
      this.#rollBack();
      throw failure;
    }
  }

  #rollBack(): void {
    this.#source.forget();
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    } catch (error) {
      // A connection that cannot even roll back must not be used again; closing it rolls back.
      this.#die();
      throw storeError(error, this.#db.path);
    }
  }

  /** A listener that throws stands for the death of the process: the connection is left as it would be, and nothing is caught. */
  #reach(point: 'before-commit' | 'after-commit'): void {
    try {
      reach(point);
    } catch (error) {
      this.#die();
      throw error;
    }
  }

  #die(): void {
    this.#db.close();
    this.#lock.release();
  }

  #mustBeOpen(): void {
    if (this.#db.isOpen) return;
    throw new StoreFailedError({
      code: 'store-closed',
      message: `${this.#db.path} is closed`,
      why: 'the store was closed, or died at a kill point',
      next: [{ label: 'open the data folder again' }],
    });
  }
}

/** The head of the log is the one row every person's act needs: taken last, it is held for the shortest time. */
function auditLast(writes: readonly Write[]): readonly Write[] {
  const isAudit = (write: Write): boolean => write.set === 'audit.appended';
  return writes.some(isAudit) ? [...writes.filter((write) => !isAudit(write)), ...writes.filter(isAudit)] : writes;
}

function refusedBy(error: unknown): UnitOutcome {
  // An error of the database is nobody's refusal: it ends the batch.
  if (isSqliteError(error) || !(error instanceof Error)) throw error;
  return { kind: 'refused', error };
}
