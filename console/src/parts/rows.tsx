// biome-ignore-all lint/a11y/useSemanticElements: a real table cannot leave out the rows that are out of sight
// biome-ignore-all lint/a11y/useFocusableInteractive: the link in a row takes the focus, the row itself is only read
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowUp } from 'lucide-react';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { List } from '../api/queries.ts';
import { Link } from '../app/router.tsx';
import { Trouble } from './trouble.tsx';
import { useMedia } from './use-media.ts';

export interface Column<I> {
  readonly head: string;
  /** A track of a CSS grid. */
  readonly width: string;
  /** Left out on a phone. */
  readonly isAside?: boolean;
  cell(item: I): ReactNode;
}

interface RowsProps<I> {
  readonly label: string;
  readonly list: List<I>;
  /** The first one is the row's name and its link. */
  readonly columns: readonly [Column<I>, ...Column<I>[]];
  readonly idOf: (item: I) => string;
  readonly linkOf: (item: I) => string;
  /** Shown when there is nothing, for whatever reason. */
  readonly empty: ReactNode;
  /** In front of a row, such as a box to choose it. */
  readonly lead?: (item: I) => ReactNode;
}

const ROW_PIXELS = 41;
/** On a phone a row is two lines. */
const ROW_PIXELS_NARROW = 61;
const AHEAD_ROWS = 20;
/** Nearer to the end than this, the next page is read. */
const SOON_ROWS = 30;

/** Rows of any number: only those in sight are in the page. */
export function Rows<I>({ label, list, columns, idOf, linkOf, empty, lead }: RowsProps<I>) {
  const isNarrow = useMedia('(width < 48rem)');
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const { items, hasMore, isLoading, more } = list;
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => (isNarrow ? ROW_PIXELS_NARROW : ROW_PIXELS),
    overscan: AHEAD_ROWS,
    scrollMargin: top,
    getItemKey: (i) => (items[i] === undefined ? i : idOf(items[i])),
  });
  // What stands above may have grown: the place of the list is measured whenever it is drawn.
  useLayoutEffect(() => {
    const now = (box.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(now - top) >= 1) setTop(now);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height of the rows is not seen in the function that gives it
  useEffect(() => rows.measure(), [isNarrow, rows]);
  const seen = rows.getVirtualItems();
  const last = seen.at(-1)?.index ?? -1;
  useEffect(() => {
    if (hasMore && !isLoading && last >= items.length - SOON_ROWS) more();
  }, [hasMore, isLoading, last, items.length, more]);

  if (list.error && items.length === 0) return <Trouble error={list.error} />;
  if (list.isFirst) return <p className="quiet waiting">Reading…</p>;
  if (items.length === 0 && !hasMore) return empty;
  const tracks = [...(lead ? ['1.75rem'] : []), ...columns.map(({ width }) => width)].join(' ');
  const [first, ...others] = columns;
  return (
    <>
      {list.isBehind && (
        <button
          type="button"
          className="news"
          onClick={() => {
            window.scrollTo({ top: 0 });
            list.renew();
          }}
        >
          <ArrowUp aria-hidden size={14} /> Something changed: show it
        </button>
      )}
      <div
        role="table"
        aria-label={label}
        aria-rowcount={hasMore ? -1 : items.length + 1}
        className="rows"
        style={{ '--tracks': tracks } as React.CSSProperties}
      >
        <div role="rowgroup" className="rows-head">
          <div role="row" className="row">
            {lead && (
              <span role="columnheader">
                <span className="unseen">Choose</span>
              </span>
            )}
            {columns.map(({ head }) => (
              <span key={head} role="columnheader">
                {head}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" ref={box} className="rows-body" style={{ height: rows.getTotalSize() }}>
          {seen.map(({ index, start, size }) => {
            const item = items[index];
            if (item === undefined) return null;
            return (
              <div
                role="row"
                key={idOf(item)}
                aria-rowindex={index + 2}
                className="row"
                style={{ height: size, transform: `translateY(${start - top}px)` }}
              >
                {lead && (
                  <span role="cell" className="cell-lead">
                    {lead(item)}
                  </span>
                )}
                <span role="cell" className="cell-name">
                  <Link to={linkOf(item)} data-stop="" className="clip">
                    {first.cell(item)}
                  </Link>
                </span>
                {others.map(({ head, cell, isAside }) => (
                  <span role="cell" key={head} className={isAside ? 'clip aside' : 'clip'}>
                    {cell(item)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      <p className="quiet rows-foot" role="status">
        {hasMore ? (items.length === 0 ? 'Looking further back…' : 'Reading further…') : ''}
      </p>
    </>
  );
}
