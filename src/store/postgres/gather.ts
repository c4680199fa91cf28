import type { WorkflowId } from '#base';
import type { LookupName, Question } from '#model';
import { postgresDialect, withNames } from '../dialect.ts';
import { LOOKUP_STATEMENTS } from '../statements/all.ts';
import { reservedBy } from '../statements/events.ts';
import type { Statement } from './flight.ts';
import { isByWorkflow, LEADS } from './holds.ts';
import { heldWithRevisions } from './revisions.ts';

/**
 * The first statements of a transaction find out what it is about, and leave the ids where the statements behind them, in the
 * same round trip, can read them: in settings that end with the transaction. Ids are words without spaces.
 */
function setting(name: string): string {
  return `unnest(string_to_array(current_setting('pawl.${name}'), ' '))`;
}

function kept(name: string, ids: string): string {
  return `set_config('pawl.${name}', coalesce(${ids}, ''), true)`;
}

/**
 * Keeps a question apart from the list of those who ask: each is answered by its own step into an index. Else the planner, which
 * may have looked when there were none, reads all active runs, or all pending events, and compares.
 */
export const EACH = 'OFFSET 0';

/** Webhooks of the version a workflow runs: each has a queue of deliveries of its own. */
const WEBHOOKS = `(SELECT workflows.id, producer.value ->> 'name' FROM ${setting('workflows')} AS locked (id)
    JOIN workflows ON workflows.id = locked.id JOIN scripts ON scripts.id = workflows.active_script_id,
    jsonb_array_elements(scripts.handlers::jsonb -> 'producers') AS producer (value)
    WHERE (producer.value ->> 'webhook')::boolean)`;

/** What runs of a webhook were called with. Said so that no index of those alone is walked. */
const DELIVERED = `(SELECT handler_runs.delivery_id FROM ${setting('runs')} AS runs (id)
    JOIN handler_runs ON handler_runs.id = runs.id WHERE num_nonnulls(handler_runs.delivery_id) = 1)`;

/** What most commands ask about the workflow, the run and the events they are about, and where it is found. */
export const GATHERED = {
  workflow: setting('workflows'),
  openExecutions: setting('workflows'),
  openSession: setting('workflows'),
  activeRun: setting('workflows'),
  openLedger: setting('workflows'),
  handlerStates: setting('workflows'),
  heads: setting('workflows'),
  openTasks: setting('workflows'),
  run: setting('runs'),
  reserved: setting('runs'),
  ledger: setting('roots'),
  lastRun: setting('roots'),
  inputsOf: setting('events'),
  ledgerOfEvent: setting('events'),
  delivery: DELIVERED,
  deliveriesTo: WEBHOOKS,
} as const satisfies Partial<Record<LookupName, string>>;

export type Gathered = keyof typeof GATHERED;

/** Those that are asked about a workflow and nothing else. The row of the workflow itself is wanted by everybody. */
export function isOfWorkflow(name: Gathered): boolean {
  return name !== 'workflow' && GATHERED[name] === GATHERED.workflow;
}

export function isGathered(name: LookupName): name is Gathered {
  return name in GATHERED;
}

const OF_EVENTS: readonly LookupName[] = ['inputsOf', 'ledgerOfEvent'];
export function isOfEvent(name: LookupName): boolean {
  return OF_EVENTS.includes(name);
}

const OF_RUNS: readonly LookupName[] = ['run', 'reserved', 'ledger', 'lastRun', 'delivery', ...OF_EVENTS];

export type Waiting = 'skip' | 'wait';

/** A table whose rows lead to their workflows, and the ids that are asked for there. */
interface Lead {
  readonly table: string;
  readonly ids: readonly string[];
}

/**
 * Every workflow a batch is about is locked, all in one statement and in the order of their ids, so that no two processes wait
 * for each other; and before anything is read, so that what is read stays true until the commit. FOR NO KEY UPDATE: rows that
 * refer to a workflow may still be inserted by others. Only the tables that lead somewhere are looked at.
 */
function lockText(waiting: Waiting, leads: readonly Lead[], isByConnection: boolean): string {
  const led = leads.map(({ table }, i) => `UNION SELECT workflow_id FROM ${table} WHERE id = ANY ($${i + 2}::text[])`);
  const held = withNames(heldBy(), () => 'asked.connection');
  const skip = waiting === 'skip' ? 'SKIP LOCKED' : '';
  const byConnection = `UNION SELECT found.id FROM unnest($${leads.length + 2}::text[]) AS asked (connection),
      LATERAL (${held}) AS found`;
  return `WITH wanted (id) AS MATERIALIZED (
      SELECT unnest($1::text[]) ${led.join(' ')} ${isByConnection ? byConnection : ''}),
    locked (id) AS MATERIALIZED (SELECT id FROM workflows WHERE id IN (SELECT id FROM wanted)
      ORDER BY id FOR NO KEY UPDATE ${skip}),
    ${heldWithRevisions(skip)}
    SELECT ${kept('workflows', `(SELECT string_agg(id, ' ') FROM held)`)},
      (SELECT string_agg(id, ' ') FROM workflows WHERE id IN (SELECT id FROM wanted)),
      floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;
}

function heldBy(): string {
  const { sql } = LOOKUP_STATEMENTS.workflowsHeldBy;
  return typeof sql === 'string' ? sql : sql(postgresDialect);
}

const lockTexts = new Map<string, string>();

/** Of those in `told` it is known already which workflow they are about: it is asked for by itself. */
export function lockWorkflows(
  questions: readonly Question[],
  waiting: Waiting,
  told: ReadonlySet<Question> = new Set(),
): Statement {
  const leading = questions.filter((question) => !told.has(question));
  const ids = (names: readonly LookupName[]) => askedOf(leading, (name) => names.includes(name));
  const leads = LEADS.map(({ table, names }) => ({ table, ids: ids(names) })).filter((lead) => lead.ids.length > 0);
  const connections = ids(['workflowsHeldBy']);
  const isByConnection = connections.length > 0;
  const name = ['lock', waiting, ...leads.map(({ table }) => table), ...(isByConnection ? ['connections'] : [])].join(
    ' ',
  );
  const text = lockTexts.get(name) ?? lockText(waiting, leads, isByConnection);
  lockTexts.set(name, text);
  const values = [
    workflowsAsked(questions),
    ...leads.map((lead) => lead.ids),
    ...(isByConnection ? [connections] : []),
  ];
  return { name, text, values };
}

/** The workflows that questions name themselves. */
export function workflowsAsked(questions: readonly Question[]): WorkflowId[] {
  return askedOf(questions, isByWorkflow) as WorkflowId[];
}

const LAST_OF_CHAIN = `SELECT id, root_run_id FROM handler_runs WHERE root_run_id = mutations.root_run_id
        ORDER BY attempt DESC LIMIT 1`;

const RUNS_TEXT = `SELECT ${kept('runs', `string_agg(id, ' ')`)}, ${kept('roots', `string_agg(DISTINCT root_run_id, ' ')`)}
  FROM (
    SELECT id, root_run_id FROM handler_runs WHERE id = ANY ($1::text[])
    UNION SELECT active.id, active.root_run_id FROM ${setting('workflows')} AS locked (id),
      LATERAL (SELECT id, root_run_id FROM handler_runs WHERE workflow_id = locked.id AND status = 'active' ${EACH}) AS active
    UNION SELECT retried.id, retried.root_run_id FROM ${setting('workflows')} AS locked (id)
      JOIN workflows ON workflows.id = locked.id
      JOIN handler_runs AS retried ON retried.id = workflows.pending_retry_run_id
    UNION SELECT last.id, last.root_run_id FROM unnest($2::text[]) AS asked (id) JOIN mutations ON mutations.id = asked.id,
      LATERAL (${LAST_OF_CHAIN}) AS last
    UNION SELECT last.id, last.root_run_id FROM ${setting('workflows')} AS locked (id),
      LATERAL (SELECT root_run_id FROM mutations WHERE workflow_id = locked.id AND set_aside_at > 0 ${EACH}) AS mutations,
      LATERAL (${LAST_OF_CHAIN}) AS last
  ) AS runs`;

const EVENTS_TEXT = `SELECT ${kept('events', `string_agg(id, ' ')`)}
  FROM (
    SELECT reserved.id FROM ${setting('runs')} AS runs (id),
      LATERAL (SELECT id FROM events WHERE ${reservedBy('runs.id')} ${EACH}) AS reserved
    UNION SELECT keyed.id FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (workflow_id, topic, message_id)
      JOIN events AS keyed ON keyed.workflow_id = asked.workflow_id AND keyed.topic = asked.topic
        AND keyed.message_id = asked.message_id
    UNION SELECT id FROM events WHERE id = ANY ($4::text[])
  ) AS found`;

/** The runs and events the needed lookups are about, as far as any of them asks for some. */
export function gather(needs: ReadonlySet<LookupName>, questions: readonly Question[]): readonly Statement[] {
  if (!OF_RUNS.some((name) => needs.has(name))) return [];
  const of = (...names: LookupName[]) => askedOf(questions, (name) => names.includes(name));
  const runs = { name: 'gather runs', text: RUNS_TEXT, values: [of('run', 'reserved'), of('mutation')] };
  if (!OF_EVENTS.some((name) => needs.has(name))) return [runs];
  const keyed = questions.filter(({ name }) => name === 'eventKeyed');
  const parts = [0, 1, 2].map((position) => keyed.map(({ by }) => by[position] as string));
  return [runs, { name: 'gather events', text: EVENTS_TEXT, values: [...parts, of('event')] }];
}

function askedOf(questions: readonly Question[], wanted: (name: LookupName) => boolean): string[] {
  return [...new Set(questions.filter(({ name }) => wanted(name)).map(({ by }) => by[0]))];
}
