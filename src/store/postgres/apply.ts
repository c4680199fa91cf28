import { RefusedError } from '#base';
import type { AuditEntry, Write, WriteName } from '#model';
import { encode, type SqlValue } from '../columns.ts';
import { positional, postgresDialect } from '../dialect.ts';
import { GuardError } from '../guard-error.ts';
import { WRITE_STATEMENTS } from '../statements/all.ts';
import { AUDIT_HEAD, AUDIT_INSERT, nextEntry } from '../statements/audit-log.ts';
import type { WriteStatement } from '../statements/statement.ts';
import type { Answer, Statement } from './flight.ts';

type Head = Pick<AuditEntry, 'seq' | 'hash'>;

/** Any number, as long as no other program asks the same database for it. */
const AUDIT_LOCK = 7_029_551_002;

/** The end of the audit log. Whoever reads it to go on from there does so alone, and as the last thing before the writes. */
export const LOCK_AUDIT: readonly Statement[] = [
  { name: 'lock audit', text: `SELECT pg_advisory_xact_lock(${AUDIT_LOCK})` },
  { name: 'audit head', text: AUDIT_HEAD },
];

export function headIn(answer: Answer | undefined): Head | undefined {
  const [row] = answer?.rows ?? [];
  return row && { seq: Number(row[0]), hash: String(row[1]) };
}

export interface Applied {
  readonly statements: readonly Statement[];
  /** The end of the audit log after these. */
  readonly head: Head | undefined;
}

/** The writes of a unit as guarded statements, each of which fails by itself where it does not find what it expects. */
export function statementsOf(writes: readonly Write[], before: Head | undefined): Applied {
  let head = before;
  const statements = writes.map((write) => {
    if (write.set !== 'audit.appended') return statementOf(write);
    const entry = nextEntry(head, write);
    head = entry.row;
    return bound(auditInsert(), AUDIT_INSERT.of(entry) as Record<string, unknown>, write);
  });
  return { statements, head };
}

interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly names: readonly string[];
  readonly words: Readonly<Record<string, string>>;
  readonly statement: Pick<WriteStatement<WriteName>, 'kinds' | 'of' | 'rows'>;
  readonly isCounted: boolean;
}

const prepared = new Map<WriteName, Prepared>();

function statementOf(write: Write): Statement {
  const found = prepared.get(write.set) ?? prepare(write);
  prepared.set(write.set, found);
  const { of, rows } = found.statement;
  const values = of === undefined ? write : of(write);
  const expected = rows === undefined ? 1 : rows(write);
  const bindings = { ...values, ...found.words, ...(found.isCounted && { expected }) };
  return bound(found, bindings as Record<string, unknown>, write);
}

function prepare(write: Write): Prepared {
  const statement = (WRITE_STATEMENTS as Record<string, unknown>)[write.set] as WriteStatement<WriteName> | undefined;
  if (statement === undefined) throw new GuardError('has no statement', { write });
  const sql = typeof statement.sql === 'string' ? statement.sql : statement.sql(postgresDialect);
  // An insert writes its row or fails; only what looks for rows can find other ones than it expects.
  const isCounted = /^\s*(?:UPDATE|DELETE)\b/.test(sql) && statement.rows?.(write) !== 'any';
  const { text, words } = foundByKey(sql);
  const counted = isCounted ? (postgresDialect.counted?.(text, ':expected') ?? text) : text;
  return { name: `write ${write.set}`, ...positional(postgresDialect, counted), words, statement, isCounted };
}

const BY_KEY = /^WHERE\s+(?:id|name)\s*(?:=|IN)/;

/**
 * A write that names its row by the key must find it by the key. An index that holds only rows of one state looks cheaper as long
 * as it is nearly empty, and would be read whole when it no longer is; so the planner is not told which state is meant.
 */
export function foundByKey(sql: string): { readonly text: string; readonly words: Readonly<Record<string, string>> } {
  const where = sql.search(/\bWHERE\b/);
  if (!BY_KEY.test(sql.slice(Math.max(where, 0)))) return { text: sql, words: {} };
  const words: Record<string, string> = {};
  const condition = sql
    .slice(where)
    .replaceAll(/'([^']*)'/g, (_, word: string) => {
      const name = `word${Object.keys(words).length + 1}`;
      words[name] = word;
      return `:${name}`;
    })
    .replaceAll(/(\w+) IS NULL/g, 'num_nulls($1) = 1')
    .replaceAll(/(\w+) IS NOT NULL/g, 'num_nonnulls($1) = 1');
  return { text: sql.slice(0, where) + condition, words };
}

let preparedAudit: Prepared | undefined;

function auditInsert(): Prepared {
  preparedAudit ??= {
    name: 'write audit.appended',
    ...positional(postgresDialect, AUDIT_INSERT.sql),
    words: {},
    statement: {},
    isCounted: false,
  };
  return preparedAudit;
}

function bound({ name, text, names, statement }: Prepared, from: Record<string, unknown>, write: Write): Statement {
  const values = names.map((parameter) => checked(encode(from[parameter], statement.kinds?.[parameter]), write));
  return { name, text, values };
}

/** The one character PostgreSQL cannot keep. */
function checked(value: SqlValue, write: Write): SqlValue {
  if (typeof value !== 'string' || !value.includes('\0')) return value;
  throw new RefusedError({
    code: 'invalid',
    message: `${write.set} would keep a text with a NUL character in it`,
    why: 'PostgreSQL cannot keep it',
    next: [{ label: 'leave the character U+0000 out' }],
  });
}
