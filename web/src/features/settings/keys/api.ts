/** Requests about API keys. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";

export function useKeys(hasArchived: boolean) {
  return useQuery({
    queryKey: ["api-keys", hasArchived],
    queryFn: () =>
      unwrap(api.GET("/api/v1/organizations/api-keys", { params: { query: { include_archived: hasArchived } } })),
  });
}

export function useCreateKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"ApiKeyCreate">) => unwrap(api.POST("/api/v1/organizations/api-keys", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["api-keys"] }),
  });
}

/** Archives a key, or makes an archived one work again. */
export function useArchiveKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, isArchived }: { id: number; isArchived: boolean }) => {
      const params = { params: { path: { key_id: id } } };
      return isArchived
        ? unwrap(api.PUT("/api/v1/organizations/api-keys/{key_id}/reactivate", params))
        : unwrap(api.DELETE("/api/v1/organizations/api-keys/{key_id}", params));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["api-keys"] }),
  });
}
