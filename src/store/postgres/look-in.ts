import { StoreFailedError } from '#base';
import { postgresDialect as dialect } from '../dialect.ts';
import type { LaterReader } from '../later.ts';
import { refuseForeign, refuseNewer } from '../schema/migrate.ts';
import { SCHEMA_VERSION } from '../workflow-rows.ts';
import { shownUrl } from './failures.ts';
import { openPostgresReader } from './reader.ts';

/** The tables of a fleet as somebody sees them who is no process of it. */
export interface LookIn {
  readonly reader: LaterReader;
  /** What time it is for the database: leases are told by it. */
  readonly now: number;
}

/** Nothing is made, changed or registered there: tables that this version does not know are refused, and not brought to it. */
export async function lookIntoPostgres(url: string): Promise<LookIn> {
  const reader = await openPostgresReader(url);
  try {
    await refuseUnknown(reader, shownUrl(url));
    const [time] = await reader.offenders('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now');
    return { reader, now: Number(time?.now) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function refuseUnknown(reader: LaterReader, where: string): Promise<void> {
  const [counted] = await reader.offenders(dialect.countTables);
  const isOurs = Number(counted?.versions) !== 0;
  refuseForeign(where, Number(counted?.tables), isOurs);
  if (!isOurs) throw withoutTables(where);
  const [row] = await reader.offenders('SELECT version FROM schema_version');
  const version = Number(row?.version);
  if (version > SCHEMA_VERSION) refuseNewer(where, version, SCHEMA_VERSION);
  if (version < SCHEMA_VERSION) throw older(where, version);
}

function withoutTables(where: string): StoreFailedError {
  return new StoreFailedError({
    code: 'store-empty',
    message: `${where} has no tables of Pawl`,
    why: 'no process has ever worked there',
    next: [{ label: 'check DATABASE_URL, or start the first process, which makes them', argv: ['pawl', 'executor'] }],
  });
}

function older(where: string, version: number): StoreFailedError {
  return new StoreFailedError({
    code: 'store-older',
    message: `${where} has schema version ${version}, and this Pawl reads ${SCHEMA_VERSION}`,
    why: 'no process of this version has worked there yet',
    next: [
      { label: 'ask with the version that works there, or start a process of this one, which changes the tables' },
    ],
  });
}
