import type { List } from '../api/queries.ts';

/** The next page of a list that is short enough to be in the page as a whole. */
export function More({ list }: { readonly list: Pick<List<unknown>, 'hasMore' | 'isLoading' | 'more'> }) {
  if (!list.hasMore) return null;
  return (
    <div className="actions">
      <button type="button" className="button" disabled={list.isLoading} onClick={list.more}>
        Show more
      </button>
    </div>
  );
}
