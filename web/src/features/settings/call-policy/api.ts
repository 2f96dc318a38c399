/** Requests about where calls may go, and who may not call. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";

export type CallPolicy = Schema<"CallPolicyResponse">;

export function useCallPolicy() {
  return useQuery({
    queryKey: ["call-policy"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/call-policy")),
  });
}

export function useSaveCallPolicy() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"CallPolicyUpdate">) => unwrap(api.PUT("/api/v1/organizations/call-policy", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["call-policy"] }),
  });
}

export function useBlockedCallers(page: number) {
  return useQuery({
    queryKey: ["blocked-callers", page],
    placeholderData: (before) => before,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/blocked-callers", { params: { query: { page, limit: 25 } } })),
  });
}

export function useBlockCaller() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"BlockedCallerAdd">) =>
      unwrap(api.POST("/api/v1/organizations/blocked-callers", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["blocked-callers"] }),
  });
}

export function useUnblockCaller() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(api.DELETE("/api/v1/organizations/blocked-callers/{entry_id}", { params: { path: { entry_id: id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["blocked-callers"] }),
  });
}
