import type { Hold } from '#model';

export type SqlValue = string | number | null;

/** How a field is kept: lists and objects as JSON text, words joined by a space, yes and no as 1 and 0. */
export type Kind = 'text' | 'integer' | 'real' | 'flag' | 'words' | 'list' | 'json';

type KindOf<V> = [V] extends [boolean]
  ? 'flag'
  : [NonNullable<V>] extends [string]
    ? 'text'
    : [NonNullable<V>] extends [number]
      ? 'integer' | 'real'
      : [V] extends [readonly Hold[]]
        ? 'words'
        : [V] extends [readonly string[]]
          ? 'list'
          : 'json';

/** One table of the model: its columns in order, and the way from a row of the database to a row of the model and back. */
export interface TableOf<R> {
  readonly name: string;
  readonly fields: readonly string[];
  readonly columns: readonly string[];
  readonly kinds: Readonly<Record<string, Kind>>;
  /** `id, workflow_id, …`; with an alias, `e.id, e.workflow_id, …`. */
  columnList(alias?: string): string;
  /** `:id, :workflowId, …` */
  readonly parameterList: string;
  parse(values: readonly SqlValue[]): R;
}

export function table<R>(name: string, kinds: { readonly [F in keyof R]-?: KindOf<R[F]> }): TableOf<R> {
  const fields = Object.keys(kinds);
  const columns = fields.map(snakeCase);
  const decoders = fields.map((field) => DECODERS[(kinds as Record<string, Kind>)[field] ?? 'text']);
  return {
    name,
    fields,
    columns,
    kinds,
    columnList: (alias) => columns.map((column) => (alias === undefined ? column : `${alias}.${column}`)).join(', '),
    parameterList: fields.map((field) => `:${field}`).join(', '),
    parse: (values) => {
      const row: Record<string, unknown> = {};
      for (let i = 0; i < fields.length; i++) {
        const decode = decoders[i];
        const value = values[i] as SqlValue;
        row[fields[i] as string] = decode === undefined ? value : decode(value);
      }
      return row as R;
    },
  };
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const NONE: readonly never[] = Object.freeze([]);

const DECODERS: Readonly<Record<Kind, ((value: SqlValue) => unknown) | undefined>> = {
  text: undefined,
  integer: undefined,
  real: undefined,
  flag: (value) => value === 1,
  words: (value) => (value === '' ? NONE : String(value).split(' ')),
  list: (value) => (value === '[]' ? NONE : JSON.parse(String(value))),
  json: (value) => parseOnce(String(value)),
};

/** A bound on memory, not on correctness: what is forgotten is parsed again. */
const PARSED_MAX = 1_000;
const parsed = new Map<string, unknown>();

/** What a version declares is read with every command and never changes: the same text is parsed once. */
function parseOnce(text: string): unknown {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  if (parsed.size >= PARSED_MAX) parsed.clear();
  const value: unknown = JSON.parse(text);
  parsed.set(text, value);
  return value;
}

/** A parameter as the database takes it. A field that is missing is a bug in a statement, not a null. */
export function encode(value: unknown, kind: Kind | undefined): SqlValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (kind === 'words') return (value as readonly string[]).join(' ');
  if (typeof value === 'object') return JSON.stringify(value);
  throw new Error(`bug: a parameter is ${typeof value}`);
}
