import { DatabaseError } from 'pg';
import { RefusedError, StoreFailedError, StoreUnavailableError } from '#base';
import { REFUSED_BY_COUNT, REFUSED_BY_GUARD } from '../dialect.ts';
import { type AddressName, isAddress } from './address.ts';
import { ConnectionError } from './connection.ts';
import { NOT_AS_KNOWN } from './revisions.ts';

/** A class of codes of the SQL standard and of PostgreSQL: the first two letters. */
const INTEGRITY = '23';
const DATA = '22';
const CONNECTION = '08';
const RESOURCES = '53';
const INTERVENTION = '57';

const UNIQUE_VIOLATION = '23505';
const SERIALIZATION = '40001';
const DEADLOCK = '40P01';
const READ_ONLY = '25006';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELLED = '57014';
const IDLE_IN_TRANSACTION = '25P03';
const NO_SUCH_DATABASE = '3D000';
const MAY_NOT = '42501';
const MISSING_TABLE = '42P01';
const NOT_IN_ENCODING = '22021';
const DISK_FULL = '53100';
const TOO_MANY_CONNECTIONS = '53300';

/**
 * Of one process for as long as it runs: its store, its line to the others, its reads for the engine, those for people, and its sign of
 * life. An export, and a commit whose answer was lost, take one more for a moment.
 */
const CONNECTIONS = 5;

/** What the server itself said, if it was the server. */
function codeOf(error: unknown): string | undefined {
  const cause = error instanceof ConnectionError ? error.cause : undefined;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

/** The database refuses this write, whoever asks: a CHECK, a key, a trigger, a right, or a row that was not as expected. */
export function isRefused(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  const ours = [REFUSED_BY_GUARD, REFUSED_BY_COUNT, NOT_AS_KNOWN, MAY_NOT].includes(code);
  return ours || code.startsWith(INTEGRITY) || code.startsWith(DATA);
}

/** A write changed more or fewer rows than its rule expected. */
export function isMiscount(error: unknown): boolean {
  return codeOf(error) === REFUSED_BY_COUNT;
}

/** Somebody else wrote the same key first, or two waited for each other: looked at anew, it may well work. */
export function isRace(error: unknown): boolean {
  const code = codeOf(error);
  return code === UNIQUE_VIOLATION || code === SERIALIZATION || code === DEADLOCK;
}

/** A row was in other hands for longer than we wait for it. */
export function isHeldByOthers(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

export function isMissingTable(error: unknown): boolean {
  return codeOf(error) === MISSING_TABLE;
}

/** The connection is gone, or about to be: an ERROR leaves it, FATAL and PANIC do not. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false;
  const { cause } = error;
  return !(cause instanceof DatabaseError) || cause.severity === 'FATAL' || cause.severity === 'PANIC';
}

/** What the store says when the database cannot do its work. Anything that is not the database's own error stays what it is. */
export function postgresError(error: unknown, where: string, named: AddressName = 'DATABASE_URL'): unknown {
  if (!(error instanceof ConnectionError)) return error;
  const { cause } = error;
  const said = cause instanceof Error ? cause.message : String(cause);
  const code = codeOf(error);
  if (code === undefined && isUntrusted(cause)) return untrusted(where, said, named, cause);
  if (code === undefined) return unreachable(where, said, cause);
  if (code === NOT_IN_ENCODING) return notText(said);
  if (code === DISK_FULL)
    return unavailable('store-full', `${where} has no space left`, said, 'free some space', cause);
  if (code === TOO_MANY_CONNECTIONS) {
    const raise = 'raise max_connections of the server, or the CONNECTION LIMIT of the user or of the database';
    const next = `${raise}: each process takes ${CONNECTIONS}`;
    return unavailable('store-no-connection', `${where} has no connection left for us`, said, next, cause);
  }
  if (code === READ_ONLY) {
    const next = `name the primary, not a standby, in ${named}`;
    return unavailable('store-read-only', `${where} takes no writes`, said, next, cause);
  }
  if (code === LOCK_NOT_AVAILABLE) {
    const next = 'look for a process that stands still inside a transaction';
    return unavailable('store-busy', `${where} did not let us have a row in time`, said, next, cause);
  }
  if (code === QUERY_CANCELLED) {
    const next = 'look for what keeps it busy, or for a process that stands still inside a transaction';
    return unavailable('store-busy', `${where} did not do it in time`, said, next, cause);
  }
  const passes = [CONNECTION, RESOURCES, INTERVENTION].includes(code.slice(0, 2));
  if (passes || code === IDLE_IN_TRANSACTION || code === SERIALIZATION || code === DEADLOCK)
    return unreachable(where, said, cause);
  return failed(where, code, said, named, cause);
}

/** The one character PostgreSQL can neither keep nor look for. */
function notText(why: string): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: 'a text that was asked for has a NUL character in it',
    why,
    next: [{ label: 'leave the character U+0000 out' }],
  });
}

function unreachable(where: string, why: string, cause: unknown): StoreUnavailableError {
  return unavailable('store-unreachable', `${where} does not answer`, why, 'see that PostgreSQL runs there', cause);
}

/** It answered, and this machine does not take it for who it says it is: Node's names for what is wrong with a certificate. */
function isUntrusted(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && /CERT|VERIFY/.test(String(cause.code));
}

function untrusted(where: string, why: string, named: AddressName, cause: unknown): StoreUnavailableError {
  const next = `in ${named}, name the host as the certificate does, and whoever signed it with &sslrootcert=FILE`;
  return unavailable('store-unreachable', `${where} has a certificate that is not trusted here`, why, next, cause);
}

function unavailable(code: string, problem: string, why: string, next: string, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError({
    code,
    message: `${problem}, so nothing was written`,
    why,
    next: [{ label: `${next}; a running Pawl then goes on by itself` }],
    retryable: true,
    cause,
  });
}

function failed(where: string, code: string, said: string, named: AddressName, cause: unknown): StoreFailedError {
  const missing = code === NO_SUCH_DATABASE || code === MAY_NOT || code.startsWith('28');
  return new StoreFailedError({
    code: missing ? 'store-cannot-open' : 'store-failed',
    message: `${where} failed: ${said}`,
    why: missing ? 'the database, its user or a right of that user is missing' : `PostgreSQL answered ${code}`,
    next: [{ label: missing ? `check ${named} and the rights of its user` : "look into the server's log" }],
    cause,
  });
}

/** The address without what must not be shown. */
export function shownUrl(url: string): string {
  // Whatever of it would be shown could be of the password.
  if (!isAddress(url)) return 'the database';
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    const host = searchParams.get('host') ?? hostname;
    return `${host}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'the database';
  }
}
