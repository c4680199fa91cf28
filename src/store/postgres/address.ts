import { Client, type ClientConfig } from 'pg';
import { type ErrorFacts, StoreFailedError } from '#base';

/** Where a person has written the address: what is wrong with it is said of that. */
export type AddressName = 'DATABASE_URL' | '--to';

/** Every reader of addresses takes them apart at the first of these characters, whatever it was meant for. */
const PARTS = /^postgres(?:ql)?:\/\/(?<authority>[^/?#]*)(?<path>[^?#]*)(?<query>\?[^#]*)?(?<fragment>#.*)?$/s;
const HOST_AND_PORT = /^(?:\[[^\]]*\]|[^:]*)(?::(?<port>.*))?$/s;
const PORT_MAX = 65_535;
/** What people leave as it is there: users of some services have an @ in their names. */
const MAY_HAVE_AT = /^(?:user|password|application_name|options|sslcert|sslkey|sslrootcert)=/;

/**
 * The driver takes each of these for verify-full, and would say so in words of its own before any line of ours. Whoever wants them as libpq has them
 * says uselibpqcompat=true.
 */
const AS_VERIFY_FULL = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&\s]|$)/g;
const AS_LIBPQ = /[?&]uselibpqcompat=true(?=[&\s]|$)/;

const WRITE_IT_AS = { label: 'write it as postgres://USER:PASSWORD@HOST:5432/DATABASE' };
const ESCAPE = { label: 'write / # ? @ % of the password as %2F %23 %3F %40 %25' };

type Mistake = 'scheme' | 'unescaped' | 'port';

const SAYS: Readonly<Record<Mistake, (named: AddressName) => Pick<ErrorFacts, 'message' | 'why' | 'next'>>> = {
  scheme: (named) => ({
    message: `${named} is not the address of a PostgreSQL database`,
    why: 'such an address begins with postgres://',
    next: [WRITE_IT_AS],
  }),
  unescaped: (named) => ({
    message: `${named} cannot be taken apart as it was meant`,
    why: 'in an address each / # ? and @ ends a part of it, also one that belongs to the password',
    next: [ESCAPE, WRITE_IT_AS],
  }),
  port: (named) => ({
    message: `the port in ${named} is not the number of a port`,
    why: `between the colon after the host and the next / there is a number up to ${PORT_MAX}, and one host has one`,
    next: [WRITE_IT_AS, ESCAPE],
  }),
};

/** Refused here, before anybody is asked: nothing of such an address may be shown, because any of it may be of the password. */
export function mustBeAddress(url: string, named: AddressName): void {
  const mistake = mistakeIn(url);
  if (mistake !== undefined) throw refused(SAYS[mistake](named));
}

export function isAddress(url: string): boolean {
  return mistakeIn(url) === undefined;
}

/** One that is not connected yet. */
export function clientFor(url: string, named: AddressName, options: ClientConfig): Client {
  mustBeAddress(url, named);
  const connectionString = AS_LIBPQ.test(url) ? url : url.replace(AS_VERIFY_FULL, '$1verify-full');
  try {
    return new Client({ ...options, connectionString });
  } catch (error) {
    throw unusable(named, error);
  }
}

function mistakeIn(url: string): Mistake | undefined {
  const parts = PARTS.exec(url)?.groups;
  if (parts === undefined) return 'scheme';
  const { authority = '', path = '', query = '', fragment } = parts;
  const given = query.slice(1).split('&');
  const isCut = path.includes('@') || given.some((each) => each.includes('@') && !MAY_HAVE_AT.test(each));
  if (isCut || fragment !== undefined) return 'unescaped';
  const [host = ''] = authority.split('@').slice(-1);
  const ports = [HOST_AND_PORT.exec(host)?.groups?.port, new URLSearchParams(query).get('port')];
  return ports.every(isPort) ? undefined : 'port';
}

function isPort(text: string | null | undefined): boolean {
  return /^\d*$/.test(text ?? '') && Number(text ?? '') <= PORT_MAX;
}

/** What only the driver found: a file it cannot read, options that do not go together, or letters that are none. */
function unusable(named: AddressName, error: unknown): StoreFailedError {
  if (error instanceof Error && 'syscall' in error) {
    return refused({
      message: `a file that ${named} names cannot be read`,
      why: error.message,
      next: [{ label: 'see that sslrootcert, sslcert and sslkey name files that this user may read' }],
      cause: error,
    });
  }
  const isOfTheDriver = error instanceof Error && !(error instanceof TypeError || error instanceof URIError);
  return refused({
    message: `${named} cannot be read as an address`,
    why: isOfTheDriver ? error.message : 'something in it is not written as addresses are',
    next: [ESCAPE, WRITE_IT_AS],
  });
}

function refused(facts: Omit<ErrorFacts, 'code'>): StoreFailedError {
  return new StoreFailedError({ code: 'store-cannot-open', ...facts });
}
