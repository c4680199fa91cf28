import type { WorkflowId } from '#base';
import type { Workflow } from '#model';

/** The cursor of the next page: the last item of this one, if it is full. */
export function nextAfter<R>(rows: readonly R[], limit: number, cursorOf: (row: R) => string): string | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length >= limit ? cursorOf(last) : null;
}

/** Lists that are short by nature are cut in memory. */
export function cut<R>(
  rows: readonly R[],
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  cursorOf: (row: R) => string,
): { readonly rows: readonly R[]; readonly next: string | null } {
  const begin = after === undefined ? 0 : rows.findIndex((row) => cursorOf(row) === after) + 1;
  const cutOut = rows.slice(begin, begin + limit);
  return { rows: cutOut, next: begin + limit < rows.length ? nextAfter(cutOut, limit, cursorOf) : null };
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
