import type { Write, WriteName } from '#model';
import { encode, type Kind, type SqlValue } from './columns.ts';
import { isConstraint } from './failures.ts';
import { GuardError } from './guard-error.ts';
import type { Query, SqliteDatabase } from './sqlite-database.ts';
import { WRITE_STATEMENTS } from './statements/all.ts';
import { AUDIT_HEAD, AUDIT_INSERT, nextEntry } from './statements/audit-log.ts';
import type { WriteStatement } from './statements/statement.ts';

/** A write as one guarded statement. A row count that is not the expected one means that a rule decided on a false picture. */
export type Apply = (write: Write) => void;

type Run = (write: Write) => { readonly changed: number; readonly expected: number | 'any' };

export function prepareApply(db: SqliteDatabase): Apply {
  const runs = new Map<WriteName, Run>();
  for (const [name, statement] of Object.entries(WRITE_STATEMENTS)) {
    runs.set(name as WriteName, prepareRun(db, statement as unknown as WriteStatement<WriteName>));
  }
  runs.set('audit.appended', prepareAudit(db));
  return (write) => {
    const run = runs.get(write.set);
    if (run === undefined) throw new GuardError('has no statement', { write });
    const { changed, expected } = guarded(run, write);
    if (expected !== 'any' && changed !== expected)
      throw new GuardError(`changed ${changed} rows, not ${expected}`, { write });
  };
}

function guarded(run: Run, write: Write): ReturnType<Run> {
  try {
    return run(write);
  } catch (error) {
    if (!isConstraint(error)) throw error;
    throw new GuardError(`is refused by the database (${(error as Error).message})`, { write, cause: error });
  }
}

function prepareRun(db: SqliteDatabase, statement: WriteStatement<WriteName>): Run {
  const query = db.prepare(statement.sql);
  const kinds = query.names.map((name) => statement.kinds?.[name]);
  const { of, rows } = statement;
  return (write) => {
    const values = valuesOf(query, kinds, (of === undefined ? write : of(write)) as Record<string, unknown>);
    return { changed: query.run(values), expected: rows === undefined ? 1 : rows(write) };
  };
}

function prepareAudit(db: SqliteDatabase): Run {
  const head = db.prepare(AUDIT_HEAD);
  const insert = db.prepare(AUDIT_INSERT.sql);
  return (write) => {
    if (write.set !== 'audit.appended') throw new GuardError('is not for the audit log', { write });
    const [last] = head.all([]);
    const entry = nextEntry(last && { seq: Number(last[0]), hash: String(last[1]) }, write);
    const values = valuesOf(insert, [], AUDIT_INSERT.of(entry) as Record<string, unknown>);
    return { changed: insert.run(values), expected: 1 };
  };
}

function valuesOf(query: Query, kinds: readonly (Kind | undefined)[], from: Record<string, unknown>): SqlValue[] {
  const { names } = query;
  const values = new Array<SqlValue>(names.length);
  for (let i = 0; i < names.length; i++) values[i] = encode(from[names[i] as string], kinds[i]);
  return values;
}
