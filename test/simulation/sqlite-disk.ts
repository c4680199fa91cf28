import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#base';
import { INVARIANTS, type Rows } from '#model';
import { openReader, openSqliteStore, type Store } from '#store';
import { rowsOf } from '../support/row-dump.ts';
import type { Disk, Opened } from './disk.ts';
import { forgetWriter, isSynced, writerOf } from './writers.ts';

const OFFENDERS = INVARIANTS.map(({ name, sql }) => `SELECT '${name}' AS broken, id FROM (${sql})`).join(' UNION ALL ');
const DATABASE = 'pawl.db';
const LOG = 'pawl.db-wal';

const CLOCK: Clock = { now: () => 0 };

/** Memory instead of a disk where there is one: what would be synced is known here, and syncing takes most of the time. */
const ROOT = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pawl-simulation-'));
process.once('exit', () => rmSync(ROOT, { recursive: true, force: true }));
let folders = 0;

function newFolder(): string {
  folders++;
  const folder = join(ROOT, String(folders));
  mkdirSync(folder);
  return folder;
}

/** A data folder with the real database in it. */
export class SqliteDisk implements Disk {
  #folder = newFolder();
  #letGo: (isDead?: boolean) => void = () => undefined;
  /** How long the log was when the last process opened it: as much outlasts any loss of power. */
  #loggedBytes = 0;

  constructor(founded?: SqliteDisk) {
    if (founded) copyFileSync(founded.#path(DATABASE), this.#path(DATABASE));
  }

  makeTables(): void {
    this.open();
    this.#letGo(false);
  }

  open(): Opened {
    this.#letGo();
    const store = openSqliteStore({ dataDir: this.#folder, clock: CLOCK });
    const reader = openReader(this.#folder);
    const witness = new DatabaseSync(this.#path(DATABASE), { readOnly: true });
    const offenders = witness.prepare(OFFENDERS);
    const close = () => store.close().catch(() => undefined);
    // What a dead process still holds the operating system lets go of. Whoever closes last writes the log into the database: the dead
    // do not, so that the witness, which writes nothing, goes after them.
    this.#letGo = (isDead = true) => {
      if (isDead) void close();
      if (witness.isOpen) witness.close();
      reader.close();
      if (!isDead) void close();
      this.#letGo = () => undefined;
    };
    this.#loggedBytes = this.#logBytes();
    let rows: Rows | undefined;
    return {
      store: { ...bound(store), close: async () => this.#letGo(false) },
      reader,
      isQuick: false,
      rows: () => {
        rows ??= rowsOf(reader);
        return rows;
      },
      changed: () => {
        rows = undefined;
      },
      setWritable: (isWritable) =>
        writerOf(this.#path(DATABASE))?.exec(`PRAGMA query_only = ${isWritable ? 'OFF' : 'ON'}`),
      offences: () => offenders.all().map(({ id, broken }) => `${id} breaks: ${broken}`),
    };
  }

  /** The files as they were synced, in another folder: the old ones are still open, and closing them would save the rest. */
  losePower(): void {
    const before = this.#folder;
    const log = this.#path(LOG);
    this.#folder = newFolder();
    copyFileSync(join(before, DATABASE), this.#path(DATABASE));
    if (existsSync(log)) copyFileSync(log, this.#path(LOG));
    if (existsSync(log) && !isSynced(join(before, DATABASE))) truncateSync(this.#path(LOG), this.#loggedBytes);
    const letGo = this.#letGo;
    this.#letGo = () => {
      letGo();
      rmSync(before, { recursive: true, force: true });
    };
  }

  close(): void {
    this.#letGo();
    forgetWriter(this.#path(DATABASE));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #logBytes(): number {
    return statSync(this.#path(LOG), { throwIfNoEntry: false })?.size ?? 0;
  }

  #path(file: string): string {
    return join(this.#folder, file);
  }
}

function bound(store: Store): Omit<Store, 'close'> {
  return {
    commit: (units) => store.commit(units),
    probe: () => store.probe(),
    isRestored: () => store.isRestored(),
    forgetRestored: () => store.forgetRestored(),
  };
}
