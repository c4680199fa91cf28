import { RefusedError } from '#base';
import type { AuditEntry, Write, WriteName } from '#model';
import { encode, type Kind, type SqlValue } from '../columns.ts';
import { positional, postgresDialect } from '../dialect.ts';
import { GuardError } from '../guard-error.ts';
import { AUDIT_HEAD, AUDIT_INSERT, nextEntry } from '../statements/audit-log.ts';
import type { WriteStatement } from '../statements/statement.ts';
import type { Answer, Statement } from './flight.ts';
import type { Folding } from './fold.ts';
import { foundByKey, inserts, manyOf, type Placed, placedIn, statementOf } from './many.ts';

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
  readonly many: Placed | undefined;
  readonly rows: readonly (readonly SqlValue[])[];
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
    return new Bound(auditInsert(), AUDIT_INSERT.of(entry), folding);
  });
  return { bound, head };
}

interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly Parameter[];
  readonly statement: Pick<WriteStatement<WriteName>, 'kinds' | 'of' | 'rows' | 'each'>;
  readonly many: Placed | undefined;
  /** Those of one row, where a write is one statement with others of its kind and several rows of it. */
  readonly each: readonly Parameter[];
}

/** Where a value comes from: a word of the statement's own, how many rows it must find, or a field of the write. */
type Parameter =
  | { readonly from: 'statement'; readonly word: string }
  | { readonly from: 'expected' }
  | { readonly from: 'write'; readonly name: string; readonly kind: Kind | undefined };

const prepared = new Map<Folding['write']['set'], Prepared>();

function boundOf(folding: Folding): BoundWrite {
  const { write } = folding;
  let found = prepared.get(write.set);
  if (found === undefined) {
    found = prepare(folding);
    prepared.set(write.set, found);
  }
  const { of } = found.statement;
  return new Bound(found, of === undefined ? write : of(write as Write), folding);
}

function prepare({ write, writes }: Folding): Prepared {
  const statement = statementOf(write.set);
  if (statement === undefined) throw new GuardError('has no statement', { write: writes[0] as Write });
  const sql = typeof statement.sql === 'string' ? statement.sql : statement.sql(postgresDialect);
  // An insert writes its row or fails; only what looks for rows can find other ones than it expects.
  const isCounted = /^\s*(?:UPDATE|DELETE)\b/.test(sql) && statement.rows?.(write as Write) !== 'any';
  const { text, words } = foundByKey(sql);
  const counted = isCounted ? (postgresDialect.counted?.(text, ':expected') ?? text) : text;
  const { names, ...single } = positional(postgresDialect, counted);
  const field = (name: string): Parameter => ({ from: 'write', name, kind: statement.kinds?.[name] });
  const parameters = names.map((name): Parameter => {
    if (isCounted && name === 'expected') return { from: 'expected' };
    const word = words[name];
    return word === undefined ? field(name) : { from: 'statement', word };
  });
  const many = manyOf(write.set);
  return {
    name: `write ${write.set}`,
    ...single,
    parameters,
    statement,
    many: many && placedIn(many, statement.each ? many.lists : names),
    each: statement.each && many ? many.lists.map(field) : [],
  };
}

let preparedAudit: Prepared | undefined;

function auditInsert(): Prepared {
  if (preparedAudit !== undefined) return preparedAudit;
  const { text, names } = positional(postgresDialect, AUDIT_INSERT.sql);
  const parameters = names.map((name): Parameter => ({ from: 'write', name, kind: undefined }));
  const many = inserts('audit.appended', AUDIT_INSERT.sql);
  preparedAudit = {
    name: 'write audit.appended',
    text,
    parameters,
    statement: {},
    many: many && placedIn(many, names),
    each: [],
  };
  return preparedAudit;
}

class Bound implements BoundWrite {
  readonly set: Folding['write']['set'];
  readonly writes: readonly Write[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly #prepared: Prepared;
  readonly #values: readonly SqlValue[];

  constructor(prepared: Prepared, from: object, folding: Folding) {
    const { statement, parameters } = prepared;
    const write = folding.write as Write;
    this.set = folding.write.set;
    this.writes = folding.writes;
    this.#prepared = prepared;
    this.#values = encoded(parameters, from as Fields, statement.rows?.(write) ?? 1, write);
    const apart = statement.each?.of(write) as readonly Fields[] | undefined;
    this.rows = apart?.map((row) => encoded(prepared.each, row, 1, write)) ?? [this.#values];
  }

  get many(): Placed | undefined {
    return this.#prepared.many;
  }

  statement(): Statement {
    const { name, text } = this.#prepared;
    return { name, text, values: this.#values };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function encoded(
  parameters: readonly Parameter[],
  from: Fields,
  expected: number | 'any',
  write: Write,
): readonly SqlValue[] {
  return parameters.map((parameter) => {
    if (parameter.from === 'write') return checked(encode(from[parameter.name], parameter.kind), write);
    return parameter.from === 'expected' ? expected : parameter.word;
  });
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
