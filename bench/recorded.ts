// The bare loop: the very statements the engine made, with the values it bound and the commits it chose, and nothing else.

import { DatabaseSync, StatementSync } from 'node:sqlite';

type Value = null | number | bigint | string;
interface Made {
  readonly text: string;
  readonly how: 'all' | 'run';
  readonly values: readonly Value[];
}

/** Everything that goes to SQLite while `act` runs. */
export async function record(act: () => Promise<void>): Promise<readonly Made[]> {
  const made: Made[] = [];
  const { all, run } = StatementSync.prototype;
  const listen = (how: 'all' | 'run', original: (...values: never[]) => unknown) =>
    function (this: StatementSync, ...values: never[]): unknown {
      made.push({ text: this.sourceSQL, how, values });
      return original.apply(this, values);
    };
  Object.assign(StatementSync.prototype, { all: listen('all', all), run: listen('run', run) });
  try {
    await act();
  } finally {
    Object.assign(StatementSync.prototype, { all, run });
  }
  return made;
}

/** Prepared beforehand, so that only the statements themselves are timed. */
export function prepareReplay(
  path: string,
  introduction: readonly Made[],
  made: readonly Made[],
): { run(): void; commits: number; close(): void } {
  const db = new DatabaseSync(path);
  for (const pragma of [
    'journal_mode = wal',
    'synchronous = FULL',
    'foreign_keys = 1',
    'cache_size = -65536',
    'recursive_triggers = 1',
  ]) {
    db.exec(`PRAGMA ${pragma}`);
  }
  for (const { text, values } of introduction) db.prepare(text).run(...(values as Value[]));
  const prepared = new Map<string, StatementSync>();
  const steps = made.map(({ text, how, values }) => {
    const statement = prepared.get(text) ?? db.prepare(text);
    statement.setReturnArrays(true);
    prepared.set(text, statement);
    return { statement, how, values };
  });
  return {
    run: () => {
      for (const { statement, how, values } of steps) statement[how](...(values as Value[]));
    },
    commits: made.filter(({ text }) => text === 'COMMIT').length,
    close: () => db.close(),
  };
}
