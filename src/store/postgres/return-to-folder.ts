import { StoreFailedError } from '#base';
import { movedTo, unmarkMoved } from '../moved-mark.ts';
import { TABLES } from '../statements/all.ts';
import type { PostgresConnection } from './connection.ts';
import { isMissingTable, shownUrl } from './failures.ts';
import { type FolderAndDatabase, withBoth } from './folder-and-database.ts';

const NAMES = Object.keys(TABLES);

/** Lets engines start on a folder again, unless one has worked on its copy: what was sent from there would be sent again. */
export async function returnToFolder(options: FolderAndDatabase): Promise<void> {
  const { dataDir, url } = options;
  const look = (): void => {
    const to = movedTo(dataDir);
    if (to !== shownUrl(url)) throw notThere(dataDir, to, url);
  };
  await withBoth(options, look, async (source, target) => {
    const copied = await countsIn(target);
    const others = NAMES.filter((table, i) => copied[i] !== source.rows(`SELECT count(*) FROM ${table}`)[0]?.[0]);
    // A copy that was not kept is no copy.
    if (copied.some((count) => count !== 0) && others.length > 0) throw workedOn(dataDir, url, others);
    unmarkMoved(dataDir);
  });
}

async function countsIn(target: PostgresConnection): Promise<readonly unknown[]> {
  try {
    const answers = await target.flight(NAMES.map((table) => ({ text: `SELECT count(*) FROM ${table}` })));
    return answers.map(({ rows }) => rows[0]?.[0]);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

function notThere(dataDir: string, to: string | undefined, url: string): StoreFailedError {
  return new StoreFailedError({
    code: 'store-moved',
    message: `the data of ${dataDir} was moved to ${to ?? 'no database'}, not to ${shownUrl(url)}`,
    why: 'the database to look at is the one it was copied into',
    next: [
      {
        label: 'name that one',
        argv: [
          'pawl',
          'migrate-store',
          '--back',
          '--data',
          dataDir,
          '--to',
          `postgres://USER:PASSWORD@${to ?? 'HOST/DATABASE'}`,
        ],
      },
    ],
  });
}

/** Every engine that starts writes down that it is there, so the tables differ from then on. */
function workedOn(dataDir: string, url: string, tables: readonly string[]): StoreFailedError {
  return new StoreFailedError({
    code: 'store-moved',
    message: `an engine has worked on ${shownUrl(url)}, so nobody may go back to ${dataDir}`,
    why: `what was sent from there would be sent again; it has other rows than the folder in ${tables.slice(0, 5).join(', ')}`,
    next: [{ label: 'go on with the database: DATABASE_URL=… pawl start --data ANOTHER-FOLDER' }],
  });
}
