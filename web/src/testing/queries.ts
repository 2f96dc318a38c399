/** The query clients of the parts that a test has rendered. */

import { QueryClient } from "@tanstack/react-query";

const clients: QueryClient[] = [];

export function makeQueries(): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  clients.push(client);
  return client;
}

/** Ends their requests and timers. */
export function forgetQueries(): void {
  for (const client of clients.splice(0)) {
    void client.cancelQueries();
    client.clear();
  }
}
