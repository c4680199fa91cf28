import type { PostgresConnection } from './connection.ts';

/**
 * Where the rows were written: in which cluster, in which database of it, in which tables. A dump that is put back carries along where it came
 * from, and makes tables of its own, also in the same server under the same name. What copies a whole cluster copies this too.
 */
const CLUSTER = `(SELECT system_identifier::text FROM pg_control_system())`;
const OIDS = `((SELECT oid FROM pg_database WHERE datname = current_database())::text
  || '/' || 'workflows'::regclass::oid::text)`;

export const CLUSTER_ORIGIN: readonly string[] = [
  `CREATE TABLE cluster_origin (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    system_identifier TEXT NOT NULL
  )`,
  `INSERT INTO cluster_origin (id, system_identifier) SELECT 1, ${CLUSTER}`,
];

/** With the guards, so that databases made before it get it too. */
export const DATABASE_ORIGIN: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS database_origin (id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), oids TEXT COLLATE "C" NOT NULL)`,
  `INSERT INTO database_origin (id, oids) SELECT 1, ${OIDS} ON CONFLICT (id) DO NOTHING`,
];

/** Put back from a backup, and nobody has been told yet. */
export async function isPutBack(connection: PostgresConnection): Promise<boolean> {
  const [found] = await connection.flight([
    {
      text: `SELECT (SELECT count(*) FROM cluster_origin WHERE system_identifier <> ${CLUSTER})
        + (SELECT count(*) FROM database_origin WHERE oids <> ${OIDS})`,
    },
  ]);
  return found?.rows[0]?.[0] !== 0;
}

/** Everybody has been told: this is where they are now. */
export async function settleHere(connection: PostgresConnection): Promise<void> {
  await connection.flight([
    { text: `UPDATE cluster_origin SET system_identifier = ${CLUSTER}` },
    { text: `UPDATE database_origin SET oids = ${OIDS}` },
  ]);
}
