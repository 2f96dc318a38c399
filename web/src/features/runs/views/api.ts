/** Requests about saved views of the list of runs. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";

export type RunView = Schema<"ViewRecord">;

const KEY = ["runs", "views"];

export function useViews() {
  return useQuery({
    queryKey: KEY,
    staleTime: 30_000,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/run-views")),
  });
}

export function useSaveView() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"CreateViewRequest">) =>
      unwrap(api.POST("/api/v1/organizations/usage/run-views", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}

export function useUpdateView(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"UpdateViewRequest">) =>
      unwrap(api.PATCH("/api/v1/organizations/usage/run-views/{view_id}", { params: { path: { view_id: id } }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}

export function useDeleteView() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(api.DELETE("/api/v1/organizations/usage/run-views/{view_id}", { params: { path: { view_id: id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}
