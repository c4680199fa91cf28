import { type IdKind, idPlaceAt, type WorkflowId } from '#base';
import type { Read } from './reads.ts';
import {
  hasIndexFor,
  type ListName,
  type ListOrder,
  type ListRows,
  type ListStatement,
  listStatement,
  listTable,
} from './statements/lists.ts';

/** What a page is of: every field that is given narrows it. */
export interface ListFilter {
  readonly workflow?: WorkflowId | undefined;
  /** The cursor of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order?: ListOrder | undefined;
  /** Any part of what people read, in whatever case. */
  readonly q?: string | undefined;
  /** Milliseconds since 1970: made then or later, and before. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** By the names of the list's own filters. */
  readonly by?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A page may hold fewer than were asked for, and even none: only `next` says whether the list is at its end. */
export interface ListPage<R> {
  readonly rows: readonly R[];
  readonly next: string | null;
}

/** How often one request looks further when what it looks for is rare. */
const LOOKS_MAX = 10;
const LAST_PLACE = { id: '~', seq: Number.MAX_SAFE_INTEGER } as const;
const FIRST_PLACE = { id: '', seq: 0 } as const;

const KINDS: Partial<Readonly<Record<ListName, IdKind>>> = {
  sessions: 'session',
  runs: 'run',
  events: 'event',
  inputs: 'input',
  mutations: 'mutation',
  notices: 'notice',
};

type Place = string | number;

/** One page of a list, by a bounded number of bounded looks. */
export function* pageOf<N extends ListName>(name: N, filter: ListFilter): Read<ListPage<ListRows[N]>> {
  const { workflow, limit, order = 'newest', q, by = {} } = filter;
  const byStatus = hasIndexFor(name, by.status, workflow !== undefined);
  const statement = listStatement(name, order, workflow !== undefined, byStatus);
  const params = { ...by, workflow, search: likePattern(q), from: filter.from, to: filter.to };
  const { parse } = listTable(name);
  // Nothing is left out, so that a page is full or the last. Only ids know their time; other places are sieved by it.
  const isTimed = KINDS[name] === undefined && (filter.from ?? filter.to) !== undefined;
  const isPlain = !isTimed && (q ?? '').trim() === '' && Object.values(by).every((value) => value === undefined);
  const rows: ListRows[N][] = [];
  let bounds = boundsOf(name, statement, filter);
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const end = isPlain ? undefined : (yield { sql: statement.reach, params: { ...params, ...bounds } })[0]?.[0];
    const { looked, left } = end == null ? { looked: bounds, left: bounds } : split(bounds, end, order);
    const found = yield { sql: statement.page, params: { ...params, ...looked, limit: limit - rows.length } };
    rows.push(...found.map(parse));
    if (rows.length >= limit) return { rows, next: String(placeOf(rows.at(-1), statement)) };
    if (end == null) return { rows, next: null };
    bounds = left;
  }
  return { rows, next: String(order === 'newest' ? bounds.below : bounds.above) };
}

interface Bounds {
  readonly above: Place;
  readonly below: Place;
}

function boundsOf(name: ListName, { place }: ListStatement, filter: ListFilter): Bounds {
  const { after, order = 'newest', from, to } = filter;
  const kind = KINDS[name];
  const above = kind && from !== undefined ? idPlaceAt(kind, from) : FIRST_PLACE[place];
  const below = kind && to !== undefined ? idPlaceAt(kind, to) : LAST_PLACE[place];
  if (after === undefined) return { above, below };
  const cursor = place === 'seq' ? Number(after) : after;
  // A cursor outside of the times asked for is of another question: the times stand.
  return order === 'newest'
    ? { above, below: cursor < below ? cursor : below }
    : { above: cursor > above ? cursor : above, below };
}

/** The part of it that one look goes through, and what is left then. */
function split(bounds: Bounds, end: Place, order: ListOrder): { looked: Bounds; left: Bounds } {
  return order === 'newest'
    ? { looked: { ...bounds, above: end }, left: { ...bounds, below: end } }
    : { looked: { ...bounds, below: end }, left: { ...bounds, above: end } };
}

function placeOf(row: object | undefined, { place }: ListStatement): Place {
  return (row as Record<'id' | 'seq', Place>)[place];
}

/** `%` and `_` are what people type, not wildcards. */
function likePattern(q: string | undefined): string {
  const text = (q ?? '').trim().toLowerCase();
  return text === '' ? '%' : `%${text.replaceAll(/[!%_]/g, '!$&')}%`;
}
