/** Requests about the organization itself and the person's own account. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { keepAnswer } from "../../../lib/api/keep-answer";
import type { Schema } from "../../../lib/api/types";

export function useRename() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => unwrap(api.PATCH("/api/v1/organizations/current", { body: { name } })),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["whereabouts"] }),
        queries.invalidateQueries({ queryKey: ["organizations"] }),
      ]),
  });
}

export function useSavePreferences() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Partial<Schema<"PreferencesUpdate">>) =>
      unwrap(api.PUT("/api/v1/organizations/preferences", { body: body as Schema<"PreferencesUpdate"> })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["whereabouts"] }),
  });
}

export function useChangeOwnName() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => unwrap(api.PATCH("/api/v1/auth/me", { body: { name } })),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["account"] }),
        queries.invalidateQueries({ queryKey: ["members"] }),
      ]),
  });
}

export function useChangePassword() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"PasswordChange">) => unwrap(api.POST("/api/v1/auth/password", { body })),
    // The account, its sessions, and what a deletion asks for.
    onSuccess: () => queries.invalidateQueries(),
  });
}

export function useSessions() {
  return useQuery({ queryKey: ["sessions"], queryFn: () => unwrap(api.GET("/api/v1/auth/sessions")) });
}

export function useEndSession() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(api.DELETE("/api/v1/auth/sessions/{session_id}", { params: { path: { session_id: id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

export function useSupportAccess() {
  return useQuery({
    queryKey: ["support-access"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/support-access")),
  });
}

export function useSaveSupportAccess() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (may_write: boolean) =>
      unwrap(api.PUT("/api/v1/organizations/support-access", { body: { may_write } })),
    onSuccess: (saved) => keepAnswer(queries, ["support-access"], saved),
  });
}

export function useSpendLimit() {
  return useQuery({
    queryKey: ["usage", "spend-limit"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/spend-limit")),
  });
}

export function useSaveSpendLimit() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (own_limit_cents: number | null) =>
      unwrap(api.PUT("/api/v1/organizations/usage/spend-limit", { body: { own_limit_cents } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["usage"] }),
  });
}

export function useRetention() {
  return useQuery({
    queryKey: ["retention"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/retention")),
  });
}

export function useSaveRetention() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"RetentionUpdate">) => unwrap(api.PUT("/api/v1/organizations/retention", { body })),
    onSuccess: (saved) => keepAnswer(queries, ["retention"], saved),
  });
}

export function useRedaction() {
  return useQuery({
    queryKey: ["redaction"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/redaction")),
  });
}

export function useSaveRedaction() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"RedactionUpdate">) => unwrap(api.PUT("/api/v1/organizations/redaction", { body })),
    onSuccess: (saved) => keepAnswer(queries, ["redaction"], saved),
  });
}

const DEMAND = ["second-factor-demand"];

export function useSecondFactorDemand() {
  return useQuery({
    queryKey: DEMAND,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/second-factor-demand")),
  });
}

export function useSaveSecondFactorDemand() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (due_at: string | null) =>
      unwrap(api.PUT("/api/v1/organizations/second-factor-demand", { body: { due_at } })),
    onSuccess: async (saved) => {
      await keepAnswer(queries, DEMAND, saved);
      return queries.invalidateQueries({ queryKey: ["account"] });
    },
  });
}
