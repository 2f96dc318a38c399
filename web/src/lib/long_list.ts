/** A list that may be longer than one likes to load: part after part, the next one when it is asked for. */

import { useInfiniteQuery } from "@tanstack/react-query";

const PART = 50;

export interface LongList<Item> {
  data: Item[] | undefined;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
  /** Loads the next part; null at the end. */
  more: (() => void) | null;
  isLoadingMore: boolean;
}

/** `load` gives the items from `offset` on, `limit` of them or as many as are left. */
export function useLongList<Item>(
  key: readonly unknown[],
  load: (part: { limit: number; offset: number }) => Promise<Item[]>,
  refetchMs: (items: Item[]) => number | false = () => false,
): LongList<Item> {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: 0,
    queryFn: ({ pageParam }) => load({ limit: PART, offset: pageParam }),
    getNextPageParam: (last, all) => (last.length < PART ? undefined : all.length * PART),
    refetchInterval: ({ state }) => refetchMs(state.data?.pages.flatMap((page) => page) ?? []),
  });
  return {
    data: query.data?.pages.flatMap((page) => page),
    isError: query.isError,
    error: query.error,
    refetch: query.refetch,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
  };
}
