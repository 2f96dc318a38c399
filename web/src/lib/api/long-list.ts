/** A list that may be longer than one likes to load: part after part, the next one when it is asked for. */

import { useInfiniteQuery } from "@tanstack/react-query";

const PART = 50;
/** One more than is shown says whether there is another part. */
const ASKED = PART + 1;

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
    queryFn: ({ pageParam }) => load({ limit: ASKED, offset: pageParam }),
    getNextPageParam: (last, all) => (last.length < ASKED ? undefined : all.length * PART),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => refetchMs(joined(state.data?.pages) ?? []),
  });
  return {
    data: joined(query.data?.pages),
    isError: query.isError,
    error: query.error,
    refetch: query.refetch,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    isLoadingMore: query.isFetchingNextPage,
  };
}

function joined<Item>(parts: Item[][] | undefined): Item[] | undefined {
  return parts?.flatMap((part) => part.slice(0, PART));
}
