/** Requests about the deletion of one's own account. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { endSessionWith } from "../../../lib/api/session";
import type { Schema } from "../../../lib/api/types";

/** What would be deleted, which changes with every member and key: asked each time it is shown. */
export function useDeletionPreview() {
  return useQuery({
    queryKey: ["account-deletion"],
    staleTime: 0,
    queryFn: () => unwrap(api.GET("/api/v1/auth/account-deletion")),
  });
}

/** Leads to the sign-in page when it is done. */
export function useDeleteAccount() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"AccountDeletionBody">) => unwrap(api.POST("/api/v1/auth/account-deletion", { body })),
    onSuccess: () => {
      endSessionWith("Your account is deleted.");
      queries.clear();
    },
    onError: () => queries.invalidateQueries({ queryKey: ["account-deletion"] }),
  });
}
