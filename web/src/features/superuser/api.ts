/** Requests across organizations. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import { keepAnswer } from "../../lib/api/keep-answer";
import { useLongList } from "../../lib/api/long-list";
import { startImpersonation } from "../../lib/api/session";
import type { Schema } from "../../lib/api/types";

export function useOrganizations() {
  return useLongList(["superuser", "organizations"], (part) =>
    unwrap(api.GET("/api/v1/superuser/organizations", { params: { query: part } })),
  );
}

export function useWorkflows(organizationId: number | null) {
  return useLongList(["superuser", "workflows", organizationId], (part) =>
    unwrap(api.GET("/api/v1/superuser/workflows", { params: { query: { ...part, ...of(organizationId) } } })),
  );
}

export function useCampaigns(organizationId: number | null) {
  return useLongList(["superuser", "campaigns", organizationId], (part) =>
    unwrap(api.GET("/api/v1/superuser/campaigns", { params: { query: { ...part, ...of(organizationId) } } })),
  );
}

export function useRuns(organizationId: number | null, page: number) {
  const filters =
    organizationId === null
      ? {}
      : { filters: JSON.stringify([{ field: "organization_id", type: "number", value: organizationId }]) };
  return useQuery({
    queryKey: ["superuser", "runs", organizationId, page],
    placeholderData: (before) => before,
    queryFn: () =>
      unwrap(api.GET("/api/v1/superuser/workflow-runs", { params: { query: { page, limit: 25, ...filters } } })),
  });
}

function of(organizationId: number | null): { organization_id?: number } {
  return organizationId === null ? {} : { organization_id: organizationId };
}

export function useAddCredit(organizationId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"AddCreditRequest">) =>
      unwrap(
        api.POST("/api/v1/superuser/organizations/{organization_id}/credits", {
          params: { path: { organization_id: organizationId } },
          body,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["superuser", "organizations"] }),
  });
}

/** Impersonates a user for an hour and drops the superuser's own cached data. */
export function useImpersonate() {
  return useMutation({
    mutationFn: (body: Schema<"ImpersonateRequest">) => unwrap(api.POST("/api/v1/superuser/impersonate", { body })),
    onSuccess: (answer) => {
      startImpersonation(answer.access_token);
      window.location.assign("/");
    },
  });
}

export function useSignups() {
  return useQuery({
    queryKey: ["superuser", "signups"],
    queryFn: () => unwrap(api.GET("/api/v1/superuser/signup-requests")),
  });
}

/** Makes the link that opens an account, and the account if one was asked for. */
export function useCreateSignInLink() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (email: string) => unwrap(api.POST("/api/v1/superuser/sign-in-links", { body: { email } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["superuser"] }),
  });
}

export function useRefuseSignup() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (request_id: number) =>
      unwrap(api.DELETE("/api/v1/superuser/signup-requests/{request_id}", { params: { path: { request_id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["superuser", "signups"] }),
  });
}

/** The processes as of now, read again every few seconds while they are shown. */
export function useNodes() {
  return useQuery({
    queryKey: ["superuser", "nodes"],
    queryFn: () => unwrap(api.GET("/api/v1/superuser/nodes")),
    refetchInterval: 3000,
  });
}

/** Removes a machine that is gone from the list of waiting recordings. */
export function useRemoveSpool() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (spool_id: string) =>
      unwrap(api.DELETE("/api/v1/superuser/recording-spools/{spool_id}", { params: { path: { spool_id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["superuser", "nodes"] }),
  });
}

export function useFailedJobs() {
  return useQuery({
    queryKey: ["superuser", "failed-jobs"],
    queryFn: () => unwrap(api.GET("/api/v1/superuser/failed-jobs")),
  });
}

/** Starts one failed job again, or all of them (null). */
export function useRetryJobs() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (job_id: number | null) =>
      job_id === null
        ? unwrap(api.POST("/api/v1/superuser/failed-jobs/retry"))
        : unwrap(api.POST("/api/v1/superuser/failed-jobs/{job_id}/retry", { params: { path: { job_id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["superuser", "failed-jobs"] }),
  });
}

/** The carrier account that organizations buy numbers with. */
export function useManagedCarrier() {
  return useQuery({
    queryKey: ["superuser", "carrier"],
    queryFn: () => unwrap(api.GET("/api/v1/superuser/managed-carrier")),
  });
}

export function useUpdateManagedCarrier() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"ManagedCarrierUpdate">) =>
      unwrap(api.PATCH("/api/v1/superuser/managed-carrier", { body })),
    onSuccess: (carrier) => keepAnswer(queries, ["superuser", "carrier"], carrier),
  });
}

export function useSubAccounts() {
  return useLongList(["superuser", "sub-accounts"], (part) =>
    unwrap(api.GET("/api/v1/superuser/managed-carrier/sub-accounts", { params: { query: part } })),
  );
}
