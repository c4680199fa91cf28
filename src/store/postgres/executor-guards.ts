import { postgresDialect as dialect, type Guard, REFUSED_BY_GUARD } from '../dialect.ts';

/**
 * An executor may change named columns of the tables where workers work, a worker's user whole rows. So it is known by what it may, whatever it
 * is called and whether or not it took the role on; one who owns the tables is an executor where it says so.
 */
const IS_EXECUTOR = `NOT pg_catalog.has_table_privilege(TG_RELID, 'UPDATE') OR current_setting('pawl.role', true) = 'executor'`;

/** What a worker owns. */
interface WorkersOwn {
  /** Asked for every row of a worker: says nothing but what OLD and NEW say. */
  readonly when: string;
  /** Asked of executors alone, so it may look at other rows. */
  readonly unless: string;
  readonly says: string;
}

/** Nothing of it was here before this transaction: an executor brings it from another engine, and ends what was under way there. */
function isBrought(workflow: string): string {
  return `pawl_is_brought(${workflow})`;
}

/** By the names of the guards whose functions look at them: one call for a row is enough. */
const CHANGED: Readonly<Record<string, WorkersOwn>> = {
  executions_step_1: {
    when: `OLD.status IN ('scheduled', 'running')`,
    unless: `${isSame('status', 'trigger', 'epoch', 'owner', 'scheduling_until', 'started_at', 'ended_at', 'waits_for', 'slots')}
      OR ${isBrought('OLD.workflow_id')}`,
    says: 'an executor writes nothing after the handoff',
  },
  script_runs_step_1: {
    when: 'OLD.end_timestamp IS NULL',
    unless: isBrought('OLD.workflow_id'),
    says: 'only its worker ends a session',
  },
  handler_runs_step_1: {
    when: 'true',
    unless: `OLD.status <> 'active' AND ${isSame('error', 'error_type', 'suspects', 'cost')} OR ${isBrought('OLD.workflow_id')}`,
    says: 'only its worker changes a run that is active, or why one stopped',
  },
  events_step_1: {
    when: `OLD.status = 'reserved' OR NEW.status = 'reserved'`,
    unless: `NEW.status <> 'reserved' AND NOT pawl_is_active(OLD.reserved_by_run_id) OR ${isBrought('OLD.workflow_id')}`,
    says: 'only a worker takes events, and changes those of a run that is active',
  },
  mutations_step_1: {
    when: `OLD.status = 'in_flight' OR NEW.status = 'in_flight'`,
    unless: isBrought('OLD.workflow_id'),
    says: 'only a worker sends a call, and changes one that is in flight',
  },
};

/** Where no other guard looks. */
const BESIDES: readonly (WorkersOwn & { readonly name: string; readonly table: string; readonly on: string })[] = [
  ...['script_runs', 'handler_runs', 'mutations'].map((table) => ({
    ...begun(table, 'only a worker begins a run'),
    unless: isBrought('NEW.workflow_id'),
  })),
  ...['run_logs', 'run_reads'].map((table) => ({
    ...begun(table, 'only a worker begins a run'),
    unless: isBrought('pawl_workflow_of(NEW.run_id)'),
  })),
  {
    ...begun('executions', 'only a worker owns an execution'),
    when: 'NEW.owner IS NOT NULL',
    unless: isBrought('NEW.workflow_id'),
  },
  {
    ...begun('events', 'only a worker takes events'),
    when: `NEW.status = 'reserved'`,
    unless: isBrought('NEW.workflow_id'),
  },
  {
    // Also a session under way may lose old runs, and counts those that are left.
    name: 'script_runs_counted',
    table: 'script_runs',
    on: 'UPDATE OF cost, handler_run_count',
    when: 'OLD.end_timestamp IS NULL',
    unless: `NEW.cost = OLD.cost AND NEW.handler_run_count = pawl_committed_in(NEW.id) OR ${isBrought('OLD.workflow_id')}`,
    says: 'only its worker counts in a session under way',
  },
  {
    name: 'mutations_aside',
    table: 'mutations',
    on: 'UPDATE OF set_aside_at',
    when: `OLD.status = 'in_flight'`,
    unless: 'false',
    says: 'only a worker sets a call in flight aside',
  },
];

function begun(table: string, says: string) {
  return { name: `${table}_begun`, table, on: 'INSERT', when: 'true', says };
}

function isSame(...columns: readonly string[]): string {
  const of = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
  return `(${of('NEW')}) IS NOT DISTINCT FROM (${of('OLD')})`;
}

/**
 * A transaction that also changed a workflow, or gave it a version, has not brought it: every version of it must be new. A version never
 * changes or goes, so the transaction that wrote it is the one that made it.
 */
const ASKED = [
  asks(
    'pawl_is_brought(of_workflow text) RETURNS boolean',
    `EXISTS (SELECT 1 FROM scripts WHERE workflow_id = of_workflow) AND NOT EXISTS (SELECT 1 FROM scripts
      WHERE workflow_id = of_workflow AND xmin <> pg_current_xact_id()::xid)`,
  ),
  asks('pawl_workflow_of(of_run text) RETURNS text', '(SELECT workflow_id FROM handler_runs WHERE id = of_run)'),
  asks(
    'pawl_is_active(of_run text) RETURNS boolean',
    `EXISTS (SELECT 1 FROM handler_runs WHERE id = of_run AND status = 'active')`,
  ),
  asks(
    'pawl_committed_in(of_session text) RETURNS bigint',
    `(SELECT count(*) FROM handler_runs WHERE script_run_id = of_session AND status = 'committed')`,
  ),
];

/** With a search path of its own: whoever asks may have made a table of the same name, that says something else. */
function asks(signature: string, answer: string): string {
  return `DO $do$ BEGIN
    EXECUTE format($text$CREATE OR REPLACE FUNCTION ${signature} LANGUAGE plpgsql SET search_path = %I, pg_temp
      AS $body$ BEGIN RETURN ${answer}; END $body$ $text$, current_schema());
  END $do$`;
}

/** Who it is comes second, and other rows last: a worker pays for one look at its own row and one at its rights. */
function refusal({ when, unless, says }: WorkersOwn): string {
  return `IF ${when} THEN
    IF ${IS_EXECUTOR} THEN
      IF NOT (${unless}) THEN RAISE EXCEPTION '${says}' USING ERRCODE = '${REFUSED_BY_GUARD}'; END IF;
    END IF;
  END IF;`;
}

/** A guard of the model, whose function also keeps executors from what is a worker's. */
export function guardWithOwner(guard: Guard): readonly string[] {
  const own = CHANGED[guard.name];
  return dialect.guard(guard, own && refusal(own));
}

export function executorGuards(): readonly string[] {
  return [
    ...ASKED,
    ...BESIDES.flatMap(({ name, table, on, ...own }) => [
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN ${refusal(own)} RETURN NEW; END $$`,
      `CREATE TRIGGER ${name} BEFORE ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
    ]),
  ];
}
