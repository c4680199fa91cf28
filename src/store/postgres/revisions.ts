import type { Question } from '#model';
import type { TableName } from '../statements/all.ts';
import type { PostgresConnection } from './connection.ts';
import type { Statement } from './flight.ts';

// Every transaction that changes what belongs to a workflow raises the workflow's revision, while it holds the workflow. So a process that
// finds the revision it left behind knows that nobody has changed anything since, and may go by the rows it remembers.

/** What is known of a database besides its rows: how often somebody wrote who raises no revision, and which guards it has. */
export interface Standing {
  readonly strangers: number;
  readonly guards: string;
}

/** Not as known: looked at anew, it may well work. */
export const NOT_AS_KNOWN = 'PW003';

/** The tables whose rows are remembered, or decide what is. */
const REMEMBERED: readonly TableName[] = [
  'workflows',
  'executions',
  'script_runs',
  'handler_runs',
  'events',
  'event_inputs',
  'mutations',
  'handler_states',
  'pruned_events',
];

/** Further from the database's clock than this nobody decides: it stood still, or the clock was set. */
const CLOCK_MS_MAX = 1_000;
const CLOCK = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * With the guards. Whoever does not say that it raises revisions, an older version of Pawl or a person with SQL, is counted at each statement, before
 * it holds anything; whoever puts guards in counts too, because guards of an older version do not count anybody.
 */
export const REVISIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS workflow_revisions (
    workflow_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
  ) WITH (fillfactor = 40)`,
  'CREATE SEQUENCE IF NOT EXISTS pawl_strangers',
  'GRANT USAGE, SELECT ON SEQUENCE pawl_strangers TO PUBLIC',
  `SELECT nextval('pawl_strangers')`,
  `CREATE OR REPLACE FUNCTION pawl_stranger() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF current_setting('pawl.revises', true) IS DISTINCT FROM 'on' THEN PERFORM nextval('pawl_strangers'); END IF;
      RETURN NULL; END $$`,
  ...REMEMBERED.map(
    (table) => `CREATE TRIGGER ${table}_stranger BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION pawl_stranger()`,
  ),
  `CREATE OR REPLACE FUNCTION pawl_as_known(known_strangers bigint, known_guards text, decided_at bigint) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE clock bigint := ${CLOCK};
    BEGIN
      IF (SELECT last_value FROM pawl_strangers) <> known_strangers OR (SELECT guards FROM schema_version) <> known_guards
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
  text: `SELECT (SELECT last_value FROM pawl_strangers), (SELECT guards FROM schema_version),
    (SELECT string_agg(workflow_id || ' ' || revision, ',') FROM workflow_revisions
      WHERE workflow_id = ANY (string_to_array(current_setting('pawl.workflows'), ' ')))`,
};

export interface HeldRevisions extends Standing {
  readonly revisions: ReadonlyMap<string, number>;
}

export function heldRevisions(row: readonly unknown[] = []): HeldRevisions {
  const [strangers, guards, list] = row;
  const pairs = typeof list === 'string' ? list.split(',').map((pair) => pair.split(' ')) : [];
  const revisions = new Map(pairs.map(([workflow = '', revision]) => [workflow, Number(revision)]));
  return { strangers: Number(strangers), guards: String(guards), revisions };
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

/** Holds the workflows and raises their revisions, if all of them are what they were; else nothing of the flight happens. */
const RAISE_KNOWN = `WITH locked (id) AS MATERIALIZED (SELECT id FROM workflows WHERE id = ANY ($1::text[])
      ORDER BY id FOR NO KEY UPDATE SKIP LOCKED),
    raised AS (UPDATE workflow_revisions SET revision = asked.revision + 1
      FROM unnest($1::text[], $2::bigint[]) AS asked (id, revision)
      WHERE workflow_id = asked.id AND workflow_revisions.revision = asked.revision
        AND workflow_id IN (SELECT id FROM locked) RETURNING 1)
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
      values: [standing.strangers, standing.guards, at],
    },
  ];
}
