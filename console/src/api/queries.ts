import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Answer, ask, type Given, type Operation, ProblemError } from './ask.ts';
import { onStale } from './refresh.ts';

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The engine says what has changed. Until then an answer stands, and going back and forth asks nothing.
        staleTime: 30_000,
        retry: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: 'always',
      },
    },
  });
}

export type Reads = Extract<Operation, `GET ${string}`>;

interface AskOptions {
  readonly enabled?: boolean;
  /** Shows the answer before while a new one is on its way. */
  readonly keep?: boolean;
  readonly everyMs?: number;
}

/** What the engine answers, kept fresh. */
export function useAnswer<O extends Reads>(operation: O, given: Given<O>, options: AskOptions = {}) {
  return useQuery<Answer<O>, Error>({
    queryKey: [operation, given],
    queryFn: ({ signal }) => ask(operation, given, { signal }),
    enabled: options.enabled ?? true,
    ...(options.keep === true && { placeholderData: keepPreviousData }),
    ...(options.everyMs !== undefined && { refetchInterval: options.everyMs, refetchIntervalInBackground: true }),
  });
}

/** Operations that answer with a page of a list. */
export type Lists = {
  [O in Reads]: Answer<O> extends { readonly items: readonly unknown[]; readonly next: string | null } ? O : never;
}[Reads];

export type ItemOf<O extends Lists> =
  Answer<O> extends { readonly items: readonly (infer I)[]; readonly next: string | null } ? I : never;

interface Page<I> {
  readonly items: readonly I[];
  readonly next: string | null;
}

const PAGE_ROWS = 100;
/** So far from the top a list is not moved under somebody's eyes. */
const TOP_PIXELS = 200;

export interface List<I> {
  readonly items: readonly I[];
  readonly error: Error | null;
  readonly isFirst: boolean;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  /** There is news, but somebody has scrolled down: it is shown when they ask for it. */
  readonly isBehind: boolean;
  more(): void;
  /** Back to the top, with everything as it is now. */
  renew(): void;
}

interface ListOptions {
  /** A list that is in the page as a whole: what changed is shown at once, wherever somebody has scrolled to. */
  readonly isWhole?: boolean;
}

/** A list of any length: read page by page as somebody scrolls. */
export function useList<O extends Lists>(
  operation: O,
  given: Omit<Given<O>, 'after' | 'limit'>,
  { isWhole = false }: ListOptions = {},
): List<ItemOf<O>> {
  const client = useQueryClient();
  const key = JSON.stringify(given);
  const queryKey = ['list', operation, key];
  const [isBehind, setBehind] = useState(false);
  const query = useInfiniteQuery<
    Page<ItemOf<O>>,
    Error,
    InfiniteData<Page<ItemOf<O>>>,
    typeof queryKey,
    string | undefined
  >({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const asked = { ...given, limit: PAGE_ROWS, after: pageParam } as unknown as Given<O>;
      return (await ask(operation, asked, { signal })) as unknown as Page<ItemOf<O>>;
    },
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });

  function renew(): void {
    setBehind(false);
    // Pages further down are read again when somebody comes there.
    client.setQueryData<InfiniteData<Page<ItemOf<O>>>>(
      queryKey,
      (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
    void client.invalidateQueries({ queryKey });
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says everything that renew reads
  useEffect(() => {
    setBehind(false);
    return onStale((concerns) => {
      if (!concerns(operation)) return;
      if (isWhole) void client.invalidateQueries({ queryKey });
      else if (window.scrollY > TOP_PIXELS) setBehind(true);
      else renew();
    });
  }, [operation, key]);

  return {
    items: query.data?.pages.flatMap((page) => page.items) ?? [],
    error: query.error,
    isFirst: query.isPending,
    isLoading: query.isFetching,
    hasMore: query.hasNextPage,
    isBehind,
    more: () => void query.fetchNextPage(),
    renew,
  };
}

export function isMissing(error: unknown): boolean {
  return error instanceof ProblemError && (error.problem.status === 404 || error.problem.code === 'malformed-id');
}
