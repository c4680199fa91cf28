import type { Clock } from '#base';
import type { Write } from '#model';
import type { Store } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { refuseExecutorsUser, takeRole } from './executor-role.ts';
import { postgresError, shownUrl } from './failures.ts';
import { indexForRetention, migratePostgres, ownGuards } from './migrate.ts';
import { isPutBack } from './origin.ts';
import { sayThatItRevises } from './revisions.ts';
import { openSession } from './session.ts';
import { PostgresStore } from './store.ts';

export interface PostgresOptions {
  readonly url: string;
  /** Only for tests: else the database's own clock counts, however far apart the clocks of the machines are. */
  readonly clock?: Clock;
  /** What the other processes are to hear when these writes are committed; nothing where there is nothing to say. */
  readonly callFor?: (writes: readonly Write[]) => string | undefined;
  /** Only for tests: whatever is decided on what is remembered is decided on what is read as well, and must be the same. */
  readonly doubts?: boolean;
  /** What this process is: the database refuses it what is not its own. */
  readonly role?: 'executor' | 'worker' | undefined;
  /** Told of the user that an executor acts as where it cannot take on the role that is made for executors. */
  readonly onOwnAccount?: ((user: string) => void) | undefined;
  /** History is removed here: what finds the rows that refer to it is made. */
  readonly prunes?: boolean | undefined;
}

/** How many round trips it took: what a store far away is measured by. */
export interface DistantStore extends Store {
  readonly roundTrips: number;
}

/** Opens, or creates, the tables in a PostgreSQL database that any number of processes share. */
export async function openPostgresStore(options: PostgresOptions): Promise<DistantStore> {
  const { url, clock, callFor, role, doubts = false } = options;
  const where = shownUrl(url);
  let connection: PostgresConnection | undefined;
  try {
    connection = await openSession(url);
    await migratePostgres(connection, where);
    if (options.prunes) await indexForRetention(connection);
    await takeRole(connection, role);
    await sayThatItRevises(connection);
    if (role === 'executor') await tellOwnAccount(connection, options.onOwnAccount);
    if (role !== 'executor') await refuseExecutorsUser(connection, where);
    const isRestored = await isPutBack(connection);
    return new PostgresStore(connection, {
      url,
      where,
      clock,
      callFor,
      role,
      isRestored,
      doubts,
      ownGuards: ownGuards(),
    });
  } catch (error) {
    connection?.destroy();
    throw postgresError(error, where);
  }
}

/** Nobody logs in as that role: whoever has taken it on is somebody else than it was. */
async function tellOwnAccount(connection: PostgresConnection, tell: PostgresOptions['onOwnAccount']): Promise<void> {
  const [answer] = await connection.flight([{ text: 'SELECT session_user WHERE session_user = current_user' }]);
  const user = answer?.rows[0]?.[0];
  if (user !== undefined) tell?.(String(user));
}
