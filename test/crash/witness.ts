import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type KillPoint, sha256 } from '#base';
import { INVARIANTS } from '#model';
import type { CommandLog } from './command-log.ts';
import type { Outside } from './outside.ts';

/** A place where the process may die. */
export interface Death {
  readonly transition: string;
  readonly side: 'before' | 'after';
}

/**
 * What a death leaves behind: the files as they were, and the world outside. Deaths between which nothing was committed and
 * nothing happened outside leave the same, so they are one moment.
 */
export interface Moment {
  readonly folder: string;
  readonly outside: Outside;
  /** How many commits of its life were made, and whether that was all the recovery had to do, or less. */
  readonly commits: number;
  readonly inRecovery: boolean;
  /** The same for the same rows; only of a first life. */
  readonly digest: string | undefined;
  readonly deaths: readonly Death[];
}

/** The one thing that is not a commit. */
export const THE_CALL = '(the call itself goes out)';

/** The database and what was not yet moved into it. The lock is not copied: the operating system lets go of a dead process's. */
const FILES = ['pawl.db', 'pawl.db-wal'];

const OFFENDERS = INVARIANTS.map(({ name, sql }) => `SELECT '${name}' AS broken, id FROM (${sql})`).join(' UNION ALL ');
const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
const ACTIVE_RUN = `SELECT handler_runs.phase, mutations.status FROM handler_runs
  LEFT JOIN mutations ON mutations.root_run_id = handler_runs.root_run_id WHERE handler_runs.status = 'active'`;

/**
 * Looks over the shoulder of one life: asks every invariant after every commit, and keeps an image of the files at every place
 * where the process could die. The image is what a SIGKILL would leave; the life itself goes on, so that it gives all its deaths.
 */
export class Witness {
  readonly moments: Moment[] = [];
  readonly #folder: string;
  readonly #outside: Outside;
  readonly #log: CommandLog;
  readonly #imageFolder: (() => string) | undefined;
  readonly #isOfInterest: (death: Death) => boolean;
  readonly #takesDigests: boolean;
  #commits = 0;
  #recoveryCommits = Number.POSITIVE_INFINITY;
  #momentKey = '';
  #transition = '';
  #db: DatabaseSync | undefined;
  #offenders: StatementSync | undefined;

  constructor(options: {
    readonly folder: string;
    readonly outside: Outside;
    readonly log: CommandLog;
    /** Where images go; without it deaths are not recorded. */
    readonly imageFolder?: (() => string) | undefined;
    /** Which deaths after the recovery are recorded; without it all are. */
    readonly isOfInterest?: ((death: Death) => boolean) | undefined;
    readonly takesDigests?: boolean;
  }) {
    this.#folder = options.folder;
    this.#outside = options.outside;
    this.#log = options.log;
    this.#imageFolder = options.imageFolder;
    this.#isOfInterest = options.isOfInterest ?? (() => true);
    this.#takesDigests = options.takesDigests ?? false;
  }

  get commits(): number {
    return this.#commits;
  }

  recovered(): void {
    this.#recoveryCommits = this.#commits;
  }

  reached(point: KillPoint): void {
    if (point === 'before-commit') {
      this.#transition = this.#nameTransition();
      this.#record({ transition: this.#transition, side: 'before' });
    }
    if (point === 'after-commit') {
      this.#commits++;
      this.#askInvariants();
      this.#record({ transition: this.#transition, side: 'after' });
    }
  }

  beforeCall(): void {
    this.#record({ transition: THE_CALL, side: 'before' });
  }

  afterCall(): void {
    this.#record({ transition: THE_CALL, side: 'after' });
  }

  close(): void {
    this.#db?.close();
  }

  #record(death: Death): void {
    if (this.#imageFolder === undefined) return;
    const inRecovery = this.#commits <= this.#recoveryCommits;
    if (!inRecovery && !this.#isOfInterest(death)) return;
    const key = `${this.#commits} ${this.#outside.changes}`;
    const known = this.moments.at(-1);
    const same = known !== undefined && key === this.#momentKey;
    this.#momentKey = key;
    // The later image of the same moment is the better one: it is taken inside the transaction that never ends.
    const folder = same ? known.folder : this.#imageFolder();
    const deaths = same ? [...known.deaths, death] : [death];
    if (same) this.moments.pop();
    const digest = same || !this.#takesDigests ? known?.digest : this.#digest();
    const commits = this.#commits;
    this.moments.push({ folder, outside: this.#outside.copy(), commits, inRecovery, digest, deaths });
    this.#takeImage(folder);
  }

  #takeImage(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const file of FILES) {
      if (existsSync(join(this.#folder, file))) copyFileSync(join(this.#folder, file), join(folder, file));
    }
  }

  #askInvariants(): void {
    this.#offenders ??= this.#database().prepare(OFFENDERS);
    const offenders = this.#offenders.all();
    assert.deepEqual(offenders, [], `${this.#transition} broke an invariant`);
  }

  #digest(): string {
    const db = this.#database();
    const tables = db.prepare(TABLES).all();
    return sha256(JSON.stringify(tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()])));
  }

  /** What a recovery does follows from where it finds the run. */
  #nameTransition(): string {
    const { transition } = this.#log;
    if (transition !== 'reapExecution') return transition;
    const run = this.#database().prepare(ACTIVE_RUN).get();
    if (run === undefined) return 'reapExecution(no active run)';
    return `reapExecution(${run.phase}${run.status === null ? '' : `, call ${run.status}`})`;
  }

  #database(): DatabaseSync {
    this.#db ??= new DatabaseSync(join(this.#folder, 'pawl.db'), { readOnly: true });
    return this.#db;
  }
}
