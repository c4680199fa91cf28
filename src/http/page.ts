import type { WorkflowId } from '#base';
import type { Workflow } from '#model';

/** The cursor of the next page: the last item of this one, if it is full. */
export function nextAfter<R>(rows: readonly R[], limit: number, cursorOf: (row: R) => string): string | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length >= limit ? cursorOf(last) : null;
}

interface Cut {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order?: 'newest' | 'oldest' | undefined;
}

/** Lists that are short by nature are put in order and cut in memory. What left the list since leaves no gap and repeats nothing. */
export function cut<R>(
  rows: readonly R[],
  { after, limit, order = 'oldest' }: Cut,
  placeOf: (row: R) => string,
): { readonly rows: readonly R[]; readonly next: string | null } {
  const sign = order === 'oldest' ? 1 : -1;
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -sign : sign);
  const left = rows
    .map((row) => ({ row, place: placeOf(row) }))
    .sort((a, b) => compare(a.place, b.place))
    .filter(({ place }) => after === undefined || compare(place, after) > 0);
  const shown = left.slice(0, limit);
  return { rows: shown.map(({ row }) => row), next: left.length > limit ? (shown.at(-1)?.place ?? null) : null };
}

/** Whether one of these texts has the words in it that somebody looks for, in any case. */
export function says(q: string | undefined, ...texts: readonly (string | null)[]): boolean {
  const words = (q ?? '').trim().toLowerCase();
  return texts.some((text) => (text ?? '').toLowerCase().includes(words));
}

/** Whether something of this time is asked for. */
export function isWithin(at: number, { from, to }: Pick<ListQuery, 'from' | 'to'>): boolean {
  return at >= (from ?? at) && (to === undefined || at < to);
}

/** What every list is asked for, as the store takes it. */
export function filterOf(
  workflow: Workflow | undefined,
  { after, limit, q, from, to, order }: ListQuery,
  by: Readonly<Record<string, string | undefined>> = {},
) {
  return { workflow: workflow?.id as WorkflowId | undefined, after, limit, q, from, to, order, by };
}

interface ListQuery {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly q?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly order?: 'newest' | 'oldest' | undefined;
}
