/** Which part of the list's address a view keeps, and which view is open: pure. */

import { readRunSearch, type RunSearch } from "../list/search";

/** Everything but the page number. */
export function searchToSave({ page: _, ...search }: RunSearch): RunSearch {
  return search;
}

export function searchOf(view: { search: Record<string, unknown> }): RunSearch {
  return searchToSave(readRunSearch(view.search));
}

/** The one whose address the list has. */
export function findOpenView<View extends { search: Record<string, unknown> }>(
  views: readonly View[],
  search: RunSearch,
): View | undefined {
  const wanted = canonical(searchToSave(search));
  return wanted === "{}" ? undefined : views.find((view) => canonical(searchOf(view)) === wanted);
}

function canonical(search: RunSearch): string {
  return JSON.stringify(Object.fromEntries(Object.entries(search).sort(([one], [other]) => (one < other ? -1 : 1))));
}
