import { PawlError } from '#base';
import type { LookIn } from '#store';
import type { Client } from './client.ts';
import type { Act } from './command.ts';
import { EngineUnreachableError } from './engine-errors.ts';

/** An answer, and from where it is where no engine gave it. */
export interface Answered<T> {
  readonly answer: T;
  readonly note: string | undefined;
}

/**
 * Asks an engine. Where none answers, and DATABASE_URL says where the tables of a fleet are, `read` looks into them: just when nobody is
 * alive people want to know how things stand.
 */
export async function askOrRead<T>(
  act: Act,
  ask: (engine: Client) => Promise<T>,
  read: (tables: LookIn) => Promise<T>,
): Promise<Answered<T>> {
  try {
    return { answer: await ask(await act.engine()), note: undefined };
  } catch (error) {
    const { DATABASE_URL: url = '' } = act.terminal.env;
    if (!(error instanceof EngineUnreachableError) || url === '') throw error;
    return await readInstead(url, error, read);
  }
}

async function readInstead<T>(
  url: string,
  unreachable: EngineUnreachableError,
  read: (tables: LookIn) => Promise<T>,
): Promise<Answered<T>> {
  const { lookIntoPostgres, shownUrl } = await import('#store');
  const tables = await lookIntoPostgres(url).catch((error: unknown) => {
    throw error instanceof PawlError ? nobodyAtAll(unreachable, error) : error;
  });
  try {
    const note = `${unreachable.message}, so this was read from the database ${shownUrl(url)} directly`;
    return { answer: await read(tables), note };
  } finally {
    await tables.reader.close();
  }
}

function nobodyAtAll(engine: EngineUnreachableError, store: PawlError): EngineUnreachableError {
  const why = `${engine.why}; nor can the database of DATABASE_URL be read: ${store.message} (${store.why})`;
  const next = [...engine.next, ...store.next];
  return new EngineUnreachableError({ where: engine.where, why, next, isSilent: engine.isSilent, cause: store });
}
