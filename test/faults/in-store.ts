import type { Fault } from './fault.ts';

const RUNS = 'src/store/statements/handler-runs.ts';
const EVENTS = 'src/store/statements/events.ts';
const MUTATIONS = 'src/store/statements/mutations.ts';
const WORKFLOWS = 'src/store/statements/workflows.ts';
const EXECUTIONS = 'src/store/statements/executions.ts';
const SESSIONS = 'src/store/statements/script-runs.ts';
const LISTINGS = 'src/store/statements/listings.ts';
const INDEXES = 'src/store/schema/001-indexes.ts';
const TABLES = 'src/store/schema/001-tables.ts';
const GUARDS = 'src/store/schema/guards.ts';
const MIGRATE = 'src/store/schema/migrate.ts';
const SQLITE = 'src/store/sqlite.ts';
const OPEN = 'src/store/open-sqlite.ts';
const LOCK = 'src/store/process-lock.ts';

/** Mistakes in how rows are kept: a guard that is missing in a statement or in the schema, a transaction that is not one. */
export const STORE_FAULTS: readonly Fault[] = [
  {
    name: 'SQL: a phase is left that the run is not in',
    file: RUNS,
    find: "phase = :to WHERE id = :run AND phase = :from AND status = 'active'`",
    replace: "phase = :to WHERE id = :run AND status = 'active'`",
  },
  {
    name: 'SQL: a run that has stopped is stopped again',
    file: RUNS,
    find: "cost = :cost, end_timestamp = :at\n      WHERE id = :run AND status = 'active'`",
    replace: 'cost = :cost, end_timestamp = :at\n      WHERE id = :run`',
  },
  {
    name: 'SQL: a stopped run is committed as if it were active',
    file: RUNS,
    find: "WHERE id = :run AND phase = :from AND status = 'active'`,\n  },\n  'run.finished'",
    replace: "WHERE id = :run AND phase = :from`,\n  },\n  'run.finished'",
  },
  {
    name: 'SQL: the first run of a chain is taken for its last',
    file: RUNS,
    find: 'ORDER BY attempt DESC LIMIT 1',
    replace: 'ORDER BY attempt ASC LIMIT 1',
  },
  {
    name: 'SQL: any event is reserved, whatever became of it',
    file: EVENTS,
    find: "dialect.isElement('id', ':events')} AND status = 'pending'`",
    replace: "dialect.isElement('id', ':events')}`",
  },
  {
    name: 'SQL: a release also releases what was consumed',
    file: EVENTS,
    find: " AND status = 'reserved'`;\n}",
    replace: '`;\n}',
  },
  {
    name: 'SQL: how many events a commit consumed is not checked',
    file: EVENTS,
    find: "rows: ({ count }) => count,\n  },\n  'events.skipped': {",
    replace: "rows: () => 'any',\n  },\n  'events.skipped': {",
  },
  {
    name: 'SQL: consumed events are written as skipped',
    file: EVENTS,
    find: "UPDATE events SET status = 'consumed' WHERE",
    replace: "UPDATE events SET status = 'skipped' WHERE",
  },
  {
    name: 'SQL: an event that is not parked is unparked',
    file: EVENTS,
    find: "pending_seq = :pendingSeq WHERE id = :event AND status = 'parked'`",
    replace: 'pending_seq = :pendingSeq WHERE id = :event`',
  },
  {
    name: 'SQL: a payload is changed under a run that reserved it',
    file: EVENTS,
    find: "pending_seq = :pendingSeq\n      WHERE id = :event AND status = 'pending'`",
    replace: 'pending_seq = :pendingSeq\n      WHERE id = :event`',
  },
  {
    name: 'SQL: the newest moment of a topic is taken for its oldest',
    file: EVENTS,
    find: 'SELECT max(pending_seq)',
    replace: 'SELECT min(pending_seq)',
  },
  {
    name: 'SQL: a call goes out that nobody approved',
    file: MUTATIONS,
    find: "AND status = 'pending' AND approved_at IS NOT NULL`",
    replace: "AND status = 'pending'`",
  },
  {
    name: 'SQL: the second answer to a call wins',
    file: MUTATIONS,
    find: "WHERE id = :mutation AND status = :from`,\n  },\n  'mutation.failed'",
    replace: "WHERE id = :mutation`,\n  },\n  'mutation.failed'",
  },
  {
    name: 'SQL: a refused call is written as applied',
    file: MUTATIONS,
    find: "UPDATE mutations SET status = 'failed'",
    replace: "UPDATE mutations SET status = 'applied'",
  },
  {
    name: 'SQL: a question that was set aside is forgotten',
    file: MUTATIONS,
    find: 'WHERE workflow_id = :workflow AND set_aside_at > 0`',
    replace: 'WHERE workflow_id = :workflow AND set_aside_at < 0`',
  },
  {
    name: 'SQL: the pointer is written whoever has it',
    file: WORKFLOWS,
    find: 'WHERE id = :workflow AND pending_retry_run_id IS NOT DISTINCT FROM :from`',
    replace: 'WHERE id = :workflow`',
  },
  {
    name: 'SQL: the event clock is set back by a late command',
    file: WORKFLOWS,
    find: 'WHERE id = :workflow AND event_seq = :from',
    replace: 'WHERE id = :workflow',
  },
  {
    name: 'SQL: holds are written over those of another command',
    file: WORKFLOWS,
    find: 'WHERE id = :workflow AND status = :from`',
    replace: 'WHERE id = :workflow`',
  },
  {
    name: 'SQL: an execution is claimed at any epoch',
    file: EXECUTIONS,
    find: "WHERE id = :execution AND status = 'scheduled' AND epoch = :epoch`",
    replace: "WHERE id = :execution AND status = 'scheduled'`",
  },
  {
    name: 'SQL: the epoch is raised whatever it was',
    file: EXECUTIONS,
    find: 'WHERE id = :execution AND epoch = :from AND ended_at IS NULL',
    replace: 'WHERE id = :execution AND ended_at IS NULL',
  },
  {
    name: 'SQL: a session ends twice',
    file: SESSIONS,
    find: "result = 'completed', end_timestamp = :at\n      WHERE id = :session AND end_timestamp IS NULL`",
    replace: "result = 'completed', end_timestamp = :at\n      WHERE id = :session`",
  },
  {
    name: 'SQL: a delivery that is done is done again',
    file: 'src/store/statements/deliveries.ts',
    find: "WHERE id = :delivery AND status = 'pending'`",
    replace: 'WHERE id = :delivery`',
  },
  {
    name: 'SQL: Bug 3: an orphan is recognised by its phase, so a dead run keeps its events unseen',
    file: LISTINGS,
    find: "handler_runs.status = 'active'\n",
    replace: "handler_runs.phase IN ('mutated', 'emitting')\n",
  },
  {
    name: 'SQL: recovery does not see what was handed off and never claimed',
    file: LISTINGS,
    find: "AND status <> 'scheduling'\n",
    replace: "AND status = 'running'\n",
  },
  {
    name: 'SQL: a repair whose task was never made is not found',
    file: LISTINGS,
    find: "AND status = 'open' AND kind = 'repair')",
    replace: ') AND id IS NULL',
  },
  {
    name: 'SQL: a look-up that another worker has taken is handed out again',
    file: LISTINGS,
    find: ' AND (reconcile_until IS NULL OR reconcile_until <= :now)',
    replace: '',
  },
  {
    name: 'two runs of a workflow may be active in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX handler_runs_active',
    replace: 'CREATE INDEX handler_runs_active',
  },
  {
    name: 'a run may be retried twice in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX handler_runs_retry',
    replace: 'CREATE INDEX handler_runs_retry',
  },
  {
    name: 'a chain may have two calls in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX mutations_chain',
    replace: 'CREATE INDEX mutations_chain',
  },
  {
    name: 'a workflow may have two open questions in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX mutations_open',
    replace: 'CREATE INDEX mutations_open',
  },
  {
    name: 'a message id may name two events in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX events_key',
    replace: 'CREATE INDEX events_key',
  },
  {
    name: 'a workflow may be scheduled twice in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX executions_busy',
    replace: 'CREATE INDEX executions_busy',
  },
  {
    name: 'a workflow may have two open sessions in the database',
    file: INDEXES,
    find: 'CREATE UNIQUE INDEX script_runs_open',
    replace: 'CREATE INDEX script_runs_open',
  },
  {
    name: 'the database lets phase and status of a commit differ',
    file: TABLES,
    find: "CHECK ((status = 'committed') = (phase = 'committed')),",
    replace: '',
  },
  {
    name: 'the database lets an event be reserved by nobody',
    file: TABLES,
    find: "CHECK (status = 'skipped' OR (reserved_by_run_id IS NOT NULL) = (status = 'reserved' OR status = 'consumed'))",
    replace: 'CHECK (pending_seq >= 0)',
  },
  {
    name: 'the database lets status and holds of a workflow differ',
    file: TABLES,
    find: "fits.join(' OR ')",
    replace: "['1 = 1', ...fits].join(' OR ')",
  },
  {
    name: 'the database lets a call be in flight without a deadline',
    file: TABLES,
    find: "CHECK (status <> 'in_flight' OR call_deadline IS NOT NULL),",
    replace: '',
  },
  {
    name: 'no trigger guards the steps of events',
    file: GUARDS,
    find: "isLegalStep('status', EVENT_STEPS, true)",
    replace: "'(1 = 1)'",
  },
  {
    name: 'no trigger keeps the answer to a call',
    file: GUARDS,
    find: "isLegalStep('status', MUTATION_STEPS, true)",
    replace: "'(1 = 1)'",
  },
  {
    name: 'no trigger keeps phases in their order',
    file: GUARDS,
    find: 'isLegalPhaseStep()}',
    replace: "'(1 = 1)'}",
  },
  {
    name: 'rows may be deleted',
    file: GUARDS,
    find: 'if (deletable === true) return [];',
    replace: "if (deletable !== undefined || name !== 'audit_log') return [];",
  },
  {
    name: 'old guards stay when the words of the program change',
    file: MIGRATE,
    find: "if (db.rows('SELECT guards FROM schema_version')[0]?.[0] === hash) return;",
    replace: "if (db.rows('SELECT guards FROM schema_version')[0]?.[0] !== '') return;",
  },
  {
    name: 'a migration that dies in the middle leaves half of it',
    file: MIGRATE,
    find: "  db.exec('BEGIN IMMEDIATE');\n",
    replace: '',
    also: [{ file: MIGRATE, find: "  db.exec('COMMIT');\n", replace: '' }],
  },
  {
    name: 'a database of a newer Pawl is opened',
    file: MIGRATE,
    find: 'if (found > known) refuseNewer(',
    replace: 'if (found < 0) refuseNewer(',
  },
  {
    name: 'a statement that changes no row is taken for done',
    file: 'src/store/apply.ts',
    find: "if (expected !== 'any' && changed !== expected)",
    replace: "if (expected !== 'any' && changed > expected)",
  },
  {
    name: 'a command that fails half-way leaves its first half in the batch',
    file: SQLITE,
    find: '      this.#rollbackTo.run([]);\n',
    replace: '',
  },
  {
    name: 'Bug 2: a transition is two commits instead of one',
    file: SQLITE,
    find: 'for (const write of writes) this.#apply(write);',
    replace: `for (const [position, write] of writes.entries()) {
        if (position === 1) {
          this.#release.run([]);
          this.#commit.run([]);
          this.#begin.run([]);
          this.#savepoint.run([]);
        }
        this.#apply(write);
      }`,
  },
  {
    name: 'a batch is committed in pieces, so a failure in its middle leaves a part',
    file: SQLITE,
    find: 'const decided = units.map((unit) => this.#decide(unit));',
    replace: `const decided = units.map((unit) => {
        const outcome = this.#decide(unit);
        this.#commit.run([]);
        this.#begin.run([]);
        return outcome;
      });`,
  },
  {
    name: 'an answer comes before its commit',
    file: SQLITE,
    find: '      this.#guarded(() => this.#commit.run([]));\n',
    replace: '      setImmediate(() => this.#guarded(() => this.#commit.run([])));\n',
  },
  {
    name: 'a failed batch is not rolled back',
    file: SQLITE,
    find: '      this.#rollBack();\n',
    replace: '',
  },
  {
    name: 'an error of the database is taken for a refusal of the command',
    file: SQLITE,
    find: 'if (isSqliteError(error) || !(error instanceof Error)) throw error;',
    replace: 'if (!(error instanceof Error)) throw error;',
  },
  {
    name: 'synchronous = NORMAL is good enough',
    file: OPEN,
    find: 'synchronous: 2,',
    replace: 'synchronous: 1,',
  },
  {
    name: 'a pragma that SQLite ignored is believed',
    file: OPEN,
    find: 'if (found === wanted) continue;',
    replace: 'if (found === wanted || wanted) continue;',
  },
  {
    name: 'foreign keys are not enforced',
    file: OPEN,
    find: '  foreign_keys: 1,\n',
    replace: '  foreign_keys: 0,\n',
  },
  {
    name: 'a second process may write the same data folder',
    file: LOCK,
    find: 'if (holderOf(db) === me) return;',
    replace: "if (holderOf(db) === me) return db.exec('ROLLBACK');",
  },
  {
    name: 'a damaged file is written to',
    file: OPEN,
    find: '  checkPages(db);\n',
    replace: '',
  },
  {
    name: 'a reader can write',
    file: 'src/store/sqlite-reads.ts',
    find: '{ readOnly: true });',
    replace: '{ readOnly: false });',
    also: [{ file: 'src/store/sqlite-reads.ts', find: '; PRAGMA query_only = 1', replace: '' }],
  },
  {
    name: 'a full disk ends the process',
    file: 'src/store/failures.ts',
    find: '    case FULL:\n      return full(error, path);\n',
    replace: '',
  },
  {
    name: 'each entry of the audit log starts a new chain',
    file: 'src/store/apply.ts',
    find: 'hash: String(last[1]) }',
    replace: "hash: '0'.repeat(64) }",
  },
];
