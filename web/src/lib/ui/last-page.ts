/** A list that got shorter than the page of it that one looks at shows its last page, not nothing. */

import { useEffect } from "react";

interface PagedQuery {
  data: { total_pages: number } | undefined;
  /** What is shown until the wanted page has come says nothing about how many there are. */
  isPlaceholderData: boolean;
}

export function pageWithin(page: number, pages: number): number {
  return Math.max(1, Math.min(page, pages));
}

export function useLastPage(page: number, query: PagedQuery, go: (page: number) => void): void {
  const last = query.data === undefined || query.isPlaceholderData ? page : pageWithin(page, query.data.total_pages);
  useEffect(() => {
    if (last !== page) go(last);
  });
}
