import { isDeepStrictEqual } from 'node:util';
import { type Dump, dumpOf } from '../support/row-dump.ts';
import { Coverage } from './coverage.ts';
import type { Disk } from './disk.ts';
import { foundedInMemory, foundedOnSqlite } from './founding.ts';
import type { History } from './history.ts';
import { play } from './play.ts';

interface Told {
  readonly violation: string | undefined;
  /** Its rows, in an order that does not depend on the store. */
  readonly dump: () => Dump | undefined;
}

/** In memory: where most histories are played. */
export async function playInMemory(history: History, coverage: Coverage): Promise<Told> {
  return tell(history, await foundedInMemory(history.world), coverage);
}

/** On the real database, and once more in memory: the same decisions must give the same rows. */
export async function playOnBoth(history: History, coverage: Coverage): Promise<string | undefined> {
  // Several processes share no file.
  if (history.world.fleet) return (await playInMemory(history, coverage)).violation;
  const real = await tell(history, await foundedOnSqlite(history.world), coverage);
  const plain = await tell(history, await foundedInMemory(history.world), new Coverage());
  if (real.violation !== plain.violation)
    return `on SQLite: ${real.violation ?? 'sound'}\nin memory: ${plain.violation ?? 'sound'}`;
  if (real.violation !== undefined) return real.violation;
  const [realRows, plainRows] = [real.dump() ?? {}, plain.dump() ?? {}];
  const differing = Object.keys(realRows).find((table) => !isDeepStrictEqual(realRows[table], plainRows[table]));
  if (differing === undefined) return undefined;
  return `the rows of ${differing} differ:\n${JSON.stringify(realRows[differing])}\n${JSON.stringify(plainRows[differing])}`;
}

async function tell(history: History, disk: Disk, coverage: Coverage): Promise<Told> {
  const { violation, rows } = await play(history, disk, coverage);
  return { violation, dump: () => rows && dumpOf(rows) };
}
