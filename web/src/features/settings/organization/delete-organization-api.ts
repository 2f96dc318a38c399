/** Requests about the deletion of the organization. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { endSessionWith } from "../../../lib/api/session";
import type { Schema } from "../../../lib/api/types";

const KEY = ["organization-deletion"];

/** What would be deleted and what stands against it, which changes with every call: asked each time it is shown. */
export function useOrganizationDeletionPreview(isEnabled: boolean) {
  return useQuery({
    queryKey: KEY,
    enabled: isEnabled,
    staleTime: 0,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/deletion")),
  });
}

/** Leads to the sign-in page when the organization is closed. */
export function useDeleteOrganization(name: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"OrganizationDeletionBody">) =>
      unwrap(api.POST("/api/v1/organizations/deletion", { body })),
    onSuccess: ({ deleted_own_account }) => {
      const alsoAccount = deleted_own_account ? " Your account was deleted with it." : "";
      endSessionWith(`${name} is closed, and its data is being deleted.${alsoAccount}`);
      queries.clear();
    },
    onError: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}
