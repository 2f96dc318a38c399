/** Showing what a change has answered, at once. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** Puts an answer where a query shows it. An answer that was asked for earlier, and comes later, does not replace it. */
export async function keepAnswer(queries: QueryClient, queryKey: QueryKey, answer: unknown): Promise<void> {
  await queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, answer);
}
