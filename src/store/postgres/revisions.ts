import type { Question } from '#model';
import type { TableName } from '../statements/all.ts';
import type { PostgresConnection } from './connection.ts';
import type { Statement } from './flight.ts';

// Every transaction that changes what belongs to a workflow raises the workflow's revision, while it holds the workflow. So a process that
// finds the revision it left behind knows that nobody has changed anything since, and may go by the rows it remembers.

/** What is known of a database besides its rows: which guards it has, and how often any were put in. */
export interface Standing {
  readonly guards: string;
  readonly guarded: number;
}

/** Not as known: looked at anew, it may well work. */
export const NOT_AS_KNOWN = 'PW003';

/** The tables whose rows are remembered, or decide what is; and how a row of each leads to its workflow. */
const REMEMBERED: readonly { readonly table: TableName; readonly workflow?: string; readonly through?: string }[] = [
  { table: 'workflows', workflow: 'changed.id' },
  { table: 'executions' },
  { table: 'script_runs' },
  { table: 'handler_runs' },
  { table: 'events' },
  {
    table: 'event_inputs',
    workflow: 'events.workflow_id',
    through: 'JOIN %1$I.events ON events.id = changed.event_id',
  },
  { table: 'mutations' },
  { table: 'handler_states' },
  { table: 'pruned_events' },
];

/** Further from the database's clock than this nobody decides: it stood still, or the clock was set. */
export const CLOCK_MS_MAX = 1_000;
const CLOCK = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * Whoever does not say that it raises revisions, an older version of Pawl or a person with SQL, has them raised by each of its statements: as part of
 * what it does, so that it counts from its commit on and whoever comes behind it waits for it. Names are written out: its search path may be another.
 */
function strangers(): readonly string[] {
  return REMEMBERED.flatMap(({ table, workflow = 'changed.workflow_id', through = '' }) => [
    `CREATE OR REPLACE FUNCTION ${table}_stranger() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF current_setting('pawl.revises', true) IS DISTINCT FROM 'on' THEN
          EXECUTE format('INSERT INTO %1$I.workflow_revisions (workflow_id, revision)
            SELECT DISTINCT ${workflow}, 1 FROM changed ${through} ORDER BY 1
            ON CONFLICT (workflow_id) DO UPDATE SET revision = workflow_revisions.revision + 1', TG_TABLE_SCHEMA);
        END IF;
        RETURN NULL;
      END $$`,
    ...(['INSERT', 'UPDATE', 'DELETE'] as const).map(
      (on) => `CREATE TRIGGER ${table}_stranger_${on.toLowerCase()} AFTER ${on} ON ${table}
        REFERENCING ${on === 'DELETE' ? 'OLD' : 'NEW'} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${table}_stranger()`,
    ),
  ]);
}

/** With the guards. Guards of an older version raise nothing for anybody: so it is counted how often any were put in. */
export const REVISIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS workflow_revisions (
    workflow_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
  ) WITH (fillfactor = 40)`,
  'INSERT INTO workflow_revisions (workflow_id, revision) SELECT id, 0 FROM workflows ON CONFLICT DO NOTHING',
  'CREATE SEQUENCE IF NOT EXISTS pawl_guarded',
  `SELECT nextval('pawl_guarded')`,
  ...strangers(),
  `CREATE OR REPLACE FUNCTION pawl_as_known(known_guarded bigint, known_guards text, decided_at bigint) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE clock bigint := ${CLOCK};
    BEGIN
      IF (SELECT last_value FROM pawl_guarded) <> known_guarded OR (SELECT guards FROM schema_version) <> known_guards
        OR abs(clock - decided_at) > ${CLOCK_MS_MAX} THEN
        RAISE EXCEPTION 'not as it was known' USING ERRCODE = '${NOT_AS_KNOWN}';
      END IF;
      RETURN clock;
    END $$`,
];

/** From here on the connection raises revisions. */
export async function sayThatItRevises(connection: PostgresConnection): Promise<PostgresConnection> {
  await connection.flight([{ text: `SET pawl.revises = 'on'` }]);
  return connection;
}

/** What stands for the workflows that are held. Asked behind the lock: before it, somebody could still be at work. */
export const HELD_REVISIONS: Statement = {
  name: 'held revisions',
  text: `SELECT (SELECT last_value FROM pawl_guarded), (SELECT guards FROM schema_version),
    (SELECT string_agg(workflow_id || ' ' || revision, ',') FROM workflow_revisions
      WHERE workflow_id = ANY (string_to_array(current_setting('pawl.workflows'), ' ')))`,
};

export interface HeldRevisions extends Standing {
  readonly revisions: ReadonlyMap<string, number>;
}

export function heldRevisions(row: readonly unknown[] = []): HeldRevisions {
  const [guarded, guards, list] = row;
  const pairs = typeof list === 'string' ? list.split(',').map((pair) => pair.split(' ')) : [];
  const revisions = new Map(pairs.map(([workflow = '', revision]) => [workflow, Number(revision)]));
  return { guarded: Number(guarded), guards: String(guards), revisions };
}

/** Raises those of workflows that are held. One that has none begins with its first. */
export function raised(workflows: readonly string[], held: ReadonlyMap<string, number>): readonly Statement[] {
  const first = workflows.filter((workflow) => !held.has(workflow));
  const others = workflows.filter((workflow) => held.has(workflow));
  return [
    ...(others.length === 0 ? [] : [{ name: 'raise revisions', text: RAISE, values: [others] }]),
    ...(first.length === 0 ? [] : [{ name: 'first revisions', text: FIRST, values: [first] }]),
  ];
}

const RAISE = 'UPDATE workflow_revisions SET revision = revision + 1 WHERE workflow_id = ANY ($1::text[])';
const FIRST = `INSERT INTO workflow_revisions (workflow_id, revision) SELECT unnest($1::text[]), 1
  ON CONFLICT (workflow_id) DO UPDATE SET revision = workflow_revisions.revision + 1`;

/**
 * Those of the workflows `locked` that are held with their revisions. One whose revision is in other hands is as good as not held: somebody who
 * did not ask for the workflow changes what belongs to it.
 */
export function heldWithRevisions(skip: string): string {
  const ofLocked = 'WHERE workflow_id = ANY (ARRAY(SELECT id FROM locked))';
  return `revised (id) AS MATERIALIZED (SELECT workflow_id FROM workflow_revisions ${ofLocked}
      ORDER BY workflow_id FOR NO KEY UPDATE ${skip}),
    existing (id) AS MATERIALIZED (SELECT workflow_id FROM workflow_revisions ${ofLocked}),
    held (id) AS MATERIALIZED (SELECT id FROM locked WHERE id = ANY (ARRAY(SELECT id FROM revised))
      OR NOT id = ANY (ARRAY(SELECT id FROM existing)))`;
}

/** Holds the workflows and raises their revisions, if all of them are what they were; else nothing of the flight happens. */
const RAISE_KNOWN = `WITH locked (id) AS MATERIALIZED (SELECT id FROM workflows WHERE id = ANY ($1::text[])
      ORDER BY id FOR NO KEY UPDATE SKIP LOCKED),
    revised (id) AS MATERIALIZED (SELECT workflow_id FROM workflow_revisions WHERE workflow_id = ANY ($1::text[])
      ORDER BY workflow_id FOR NO KEY UPDATE SKIP LOCKED),
    raised AS (UPDATE workflow_revisions SET revision = asked.revision + 1
      FROM unnest($1::text[], $2::bigint[]) AS asked (id, revision)
      WHERE workflow_id = asked.id AND workflow_revisions.revision = asked.revision
        AND workflow_id IN (SELECT id FROM locked) AND workflow_id IN (SELECT id FROM revised) RETURNING 1)
  SELECT pawl_expect(count(*), $3) FROM raised`;

/** No event of these keys is there, nor was one whose history was removed. */
const ABSENT = `SELECT pawl_expect(count(*), 0) FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (workflow, topic, message),
    LATERAL (SELECT 1 FROM events WHERE workflow_id = asked.workflow AND topic = asked.topic AND message_id = asked.message
      UNION ALL SELECT 1 FROM pruned_events
      WHERE workflow_id = asked.workflow AND topic = asked.topic AND message_id = asked.message OFFSET 0) AS found`;

/** What was taken not to be there is not. */
export function areAbsent(events: readonly Question[]): readonly Statement[] {
  if (events.length === 0) return [];
  const parts = [0, 1, 2].map((position) => events.map(({ by }) => by[position] as string));
  return [{ name: 'absent', text: ABSENT, values: parts }];
}

/** The beginning of a transaction that was decided before it began. */
export function asKnown(
  known: ReadonlyMap<string, number>,
  standing: Standing,
  at: number | null,
): readonly Statement[] {
  return [
    { name: 'raise known', text: RAISE_KNOWN, values: [[...known.keys()], [...known.values()], known.size] },
    {
      name: 'as known',
      text: 'SELECT pawl_as_known($1, $2, $3)',
      values: [standing.guarded, standing.guards, at],
    },
  ];
}
