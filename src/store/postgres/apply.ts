import { RefusedError } from '#base';
import type { AuditEntry, Write, WriteName } from '#model';
import { encode, type Kind, type SqlValue } from '../columns.ts';
import { positional, postgresDialect } from '../dialect.ts';
import { GuardError } from '../guard-error.ts';
import { AUDIT_HEAD, AUDIT_INSERT, nextEntry } from '../statements/audit-log.ts';
import type { WriteStatement } from '../statements/statement.ts';
import type { Answer, Statement } from './flight.ts';
import type { Folding } from './fold.ts';
import { foundByKey, type Many, manyOf, type Parameters, statementOf } from './many.ts';

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

/** A write whose parameters are as the database takes them. */
export interface BoundWrite {
  readonly set: Folding['write']['set'];
  /** The writes of its unit that it stands for. */
  readonly writes: readonly Write[];
  /** Alone: it fails by itself where it does not find what it expects. */
  statement(): Statement;
  /** With others of its kind; undefined where that cannot be said in one statement. */
  readonly many: Many | undefined;
  readonly rows: readonly Parameters[];
}

export interface Applied {
  readonly bound: readonly BoundWrite[];
  /** The end of the audit log after these. */
  readonly head: Head | undefined;
}

/** The writes of a unit, each ready to become a guarded statement. What cannot be kept at all is refused here. */
export function bindWrites(foldings: readonly Folding[], before: Head | undefined): Applied {
  let head = before;
  const bound = foldings.map((folding) => {
    const { write } = folding;
    if (write.set !== 'audit.appended') return boundOf(folding);
    const entry = nextEntry(head, write);
    head = entry.row;
    return boundTo(auditInsert(), AUDIT_INSERT.of(entry), folding);
  });
  return { bound, head };
}

interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly names: readonly string[];
  readonly words: Readonly<Record<string, string>>;
  readonly statement: Pick<WriteStatement<WriteName>, 'kinds' | 'of' | 'rows' | 'each'>;
  readonly isCounted: boolean;
  readonly many: Many | undefined;
}

const prepared = new Map<Folding['write']['set'], Prepared>();

function boundOf(folding: Folding): BoundWrite {
  const { write } = folding;
  const found = prepared.get(write.set) ?? prepare(folding);
  prepared.set(write.set, found);
  const { of } = found.statement;
  return boundTo(found, of === undefined ? write : of(write as Write), folding);
}

function prepare({ write, writes }: Folding): Prepared {
  const statement = statementOf(write.set);
  if (statement === undefined) throw new GuardError('has no statement', { write: writes[0] as Write });
  const sql = typeof statement.sql === 'string' ? statement.sql : statement.sql(postgresDialect);
  // An insert writes its row or fails; only what looks for rows can find other ones than it expects.
  const isCounted = /^\s*(?:UPDATE|DELETE)\b/.test(sql) && statement.rows?.(write as Write) !== 'any';
  const { text, words } = foundByKey(sql);
  const counted = isCounted ? (postgresDialect.counted?.(text, ':expected') ?? text) : text;
  const single = { name: `write ${write.set}`, ...positional(postgresDialect, counted) };
  return { ...single, words, statement, isCounted, many: manyOf(write.set) };
}

let preparedAudit: Prepared | undefined;

function auditInsert(): Prepared {
  preparedAudit ??= {
    name: 'write audit.appended',
    ...positional(postgresDialect, AUDIT_INSERT.sql),
    words: {},
    statement: {},
    isCounted: false,
    many: undefined,
  };
  return preparedAudit;
}

function boundTo(prepared: Prepared, from: object, folding: Folding): BoundWrite {
  const { name, text, names, words, statement, isCounted, many } = prepared;
  const write = folding.write as Write;
  const expected = statement.rows?.(write) ?? 1;
  const all = { ...from, ...words, ...(isCounted && { expected }) };
  const parameters = encoded(names, all as Record<string, unknown>, statement.kinds, write);
  const apart = statement.each?.of(write) as readonly Record<string, unknown>[] | undefined;
  return {
    set: folding.write.set,
    writes: folding.writes,
    statement: () => ({ name, text, values: names.map((parameter) => parameters[parameter] as SqlValue) }),
    many,
    rows: apart?.map((row) => encoded(Object.keys(row), row, statement.kinds, write)) ?? [parameters],
  };
}

function encoded(
  names: readonly string[],
  from: Record<string, unknown>,
  kinds: Readonly<Record<string, Kind>> | undefined,
  write: Write,
): Parameters {
  const parameters: Record<string, SqlValue> = {};
  for (const name of names) parameters[name] ??= checked(encode(from[name], kinds?.[name]), write);
  return parameters;
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
