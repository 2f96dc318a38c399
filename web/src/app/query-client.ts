/** How requests are cached and repeated: never after a refusal, twice after a failed connection. */

import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../lib/api/errors";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});
