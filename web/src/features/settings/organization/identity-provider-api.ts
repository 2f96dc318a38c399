/** Requests about the organization's identity provider. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { keepAnswer } from "../../../lib/api/keep-answer";
import type { Schema } from "../../../lib/api/types";

const PROVIDER = ["identity-provider"];

export function useIdentityProvider() {
  return useQuery({
    queryKey: PROVIDER,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/identity-provider")),
  });
}

export function useSaveIdentityProvider() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"IdentityProviderBody">) =>
      unwrap(api.PUT("/api/v1/organizations/identity-provider", { body })),
    onSuccess: (saved) => keepAnswer(queries, PROVIDER, saved),
  });
}

export function useRemoveIdentityProvider() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/organizations/identity-provider")),
    onSuccess: () => queries.invalidateQueries({ queryKey: PROVIDER }),
  });
}
