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
  const db = openBare(path, introduction);
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

/** The pragmas of the engine, and the row its writes refer to. */
function openBare(path: string, introduction: readonly Made[]): DatabaseSync {
  const db = new DatabaseSync(path);
  for (const pragma of [
    'journal_mode = wal',
    'synchronous = FULL',
    'foreign_keys = 1',
    'cache_size = -4096',
    'recursive_triggers = 1',
  ]) {
    db.exec(`PRAGMA ${pragma}`);
  }
  for (const { text, values } of introduction) db.prepare(text).run(...(values as Value[]));
  return db;
}

/** The writes of a run of the engine, transaction by transaction. */
export interface Tape {
  readonly introduction: readonly Made[];
  readonly transactions: readonly { readonly made: readonly Made[]; readonly units: number }[];
}

/** What begins with BEGIN and ends with COMMIT; how many commands each held, by its savepoints. */
export function transactionsOf(made: readonly Made[]): Tape['transactions'] {
  const transactions: { made: Made[]; units: number }[] = [];
  for (const step of made) {
    if (step.text.startsWith('BEGIN')) transactions.push({ made: [], units: 0 });
    const current = transactions.at(-1);
    // What comes after it until the next BEGIN was read on another connection.
    if (!current || current.made.at(-1)?.text === 'COMMIT') continue;
    current.made.push(step);
    if (step.text.startsWith('SAVEPOINT')) current.units++;
  }
  return transactions.filter((transaction) => transaction.made.at(-1)?.text === 'COMMIT');
}

/** A group-committing disk without an engine: who waits is answered when the next transaction of the tape is durable. */
export class Disk {
  readonly #db: DatabaseSync;
  readonly #tape: Tape['transactions'];
  readonly #prepared = new Map<string, StatementSync>();
  #position = 0;
  #credit = 0;
  #waiting: (() => void)[] = [];
  #draining = false;

  constructor(path: string, tape: Tape) {
    this.#db = openBare(path, tape.introduction);
    this.#tape = tape.transactions;
  }

  commit(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#draining) return;
      this.#draining = true;
      setImmediate(() => this.#drain());
    });
  }

  finish(): void {
    while (this.#position < this.#tape.length) this.#play();
    this.#db.close();
  }

  #drain(): void {
    while (this.#waiting.length > 0) {
      if (this.#credit === 0 && this.#position < this.#tape.length) this.#play();
      const answered = this.#waiting.splice(
        0,
        this.#position < this.#tape.length ? Math.max(1, this.#credit) : this.#waiting.length,
      );
      this.#credit = Math.max(0, this.#credit - answered.length);
      for (const answer of answered) answer();
    }
    this.#draining = false;
  }

  #play(): void {
    const transaction = this.#tape[this.#position++];
    for (const { text, how, values } of transaction?.made ?? []) this.#statement(text)[how](...(values as Value[]));
    this.#credit += transaction?.units ?? 0;
  }

  #statement(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#db.prepare(text);
    statement.setReturnArrays(true);
    this.#prepared.set(text, statement);
    return statement;
  }
}
