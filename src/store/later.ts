import type { LookupName, Lookups } from '#model';
import type { History } from './history.ts';
import type { ListFilter, ListPage } from './lists.ts';
import type { Reader } from './reader.ts';
import type { RowOf, TableName } from './statements/all.ts';
import type { ListName, ListRows } from './statements/lists.ts';

/** The same questions, with answers that have to be waited for. */
export type Later<R> = {
  readonly [M in keyof R]: R[M] extends (...args: infer A) => infer T ? (...args: A) => Promise<T> : never;
};

interface LaterSource {
  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): Promise<readonly Lookups[N]['gives'][]>;
}

/** A reader as the rooms use it, wherever the tables are. */
export interface LaterReader extends LaterSource, Later<Omit<Reader, 'fetch' | 'table'>> {
  table<T extends TableName>(name: T): Promise<readonly RowOf<T>[]>;
}

/** The past as the rooms look at it, wherever the tables are. */
export interface LaterHistory extends LaterSource, Later<Omit<History, 'fetch' | 'list'>> {
  list<N extends ListName>(name: N, filter: ListFilter): Promise<ListPage<ListRows[N]>>;
}

export function readLater(reader: Reader): LaterReader {
  return answeringLater(reader) as LaterReader;
}

export function lookBackLater(history: History): LaterHistory {
  return answeringLater(history) as LaterHistory;
}

/** What has its answers at hand gives them in a promise that is kept already, so that a caller never sees the difference. */
function answeringLater(answering: object): object {
  const isPlain = Object.getPrototypeOf(answering) === Object.prototype;
  const all = Object.getOwnPropertyNames(isPlain ? answering : Object.getPrototypeOf(answering));
  const names = all.filter((name) => name !== 'constructor');
  const methods = answering as Readonly<Record<string, (...args: unknown[]) => unknown>>;
  return Object.fromEntries(names.map((name) => [name, async (...args: unknown[]) => methods[name]?.(...args)]));
}
