/** Requests about runs. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import type { RunDetail, Schema } from "../../lib/api/types";
import { isLive } from "../../lib/runs/run-state";
import { notifyError } from "../../lib/ui/notifications";
import { criteriaOf, type RunSearch } from "./list/search";

export const PER_PAGE = 25;

function asked(search: RunSearch): { filters?: string; search?: string } {
  const criteria = criteriaOf(search);
  return {
    ...(criteria.length === 0 ? {} : { filters: JSON.stringify(criteria) }),
    ...(search.words === undefined ? {} : { search: search.words }),
  };
}

/** Runs of all agents. */
export function useAllRuns(search: RunSearch) {
  return useQuery({
    queryKey: ["runs", "all", search],
    placeholderData: (before) => before,
    refetchInterval: (query) => (query.state.data?.items.some(isLive) ? 3_000 : 15_000),
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/organizations/usage/runs", {
          params: {
            query: {
              ...asked(search),
              page: search.page ?? 1,
              limit: PER_PAGE,
              sort_by: search.sort ?? "created_at",
              sort_order: search.order ?? "desc",
            },
          },
        }),
      ),
  });
}

/** The run of this number; null where the organization has none. */
export function useRunByNumber(runId: number) {
  return useQuery({
    queryKey: ["runs", "numbered", runId],
    enabled: runId > 0,
    queryFn: async () => {
      const query = { ...asked({ run: runId }), page: 1, limit: 1 };
      return (await unwrap(api.GET("/api/v1/organizations/usage/runs", { params: { query } }))).items[0] ?? null;
    },
  });
}

/** Where the same runs come as a CSV. */
export function reportPath(search: RunSearch): string {
  return `/api/v1/organizations/usage/runs/report?${new URLSearchParams(asked(search)).toString()}`;
}

export function useRuns(agentId: number, page: number, limit: number) {
  return useQuery({
    queryKey: ["runs", agentId, page, limit],
    placeholderData: (before) => before,
    refetchInterval: (query) => (query.state.data?.runs.some(isLive) ? 3_000 : false),
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/runs", {
          params: { path: { workflow_id: agentId }, query: { page, limit } },
        }),
      ),
  });
}

export function useRun(agentId: number, runId: number) {
  return useQuery({
    queryKey: ["runs", agentId, "one", runId],
    // While it goes on, and until its summary is written.
    refetchInterval: ({ state: { data } }) =>
      data === undefined ? false : isLive(data) ? 2_000 : data.analysis?.status === "pending" ? 5_000 : false,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/runs/{run_id}", {
          params: { path: { workflow_id: agentId, run_id: runId } },
        }),
      ),
  });
}

/** What people wrote about a run. */
export function useUpdateNotes(agentId: number, runId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"UpdateRunRequest">) =>
      unwrap(
        api.PATCH("/api/v1/workflow/{workflow_id}/runs/{run_id}", {
          params: { path: { workflow_id: agentId, run_id: runId } },
          body,
        }),
      ),
    onSuccess: ({ note, tags }) => {
      queries.setQueryData(["runs", agentId, "one", runId], (run: RunDetail | undefined) =>
        run === undefined ? run : { ...run, note, tags },
      );
      void queries.invalidateQueries({ queryKey: ["runs", "all"] });
    },
    onError: notifyError,
  });
}

/** For the filter by result: those of the last three months. */
export function useResultNames() {
  return useQuery({
    queryKey: ["runs", "results"],
    staleTime: 60_000,
    queryFn: async () => {
      const insights = await unwrap(
        api.GET("/api/v1/organizations/usage/insights", { params: { query: { days: 92 } } }),
      );
      return [...new Set(insights.days.flatMap((day) => Object.keys(day.results)))].sort();
    },
  });
}

/** For the filter by campaign. */
export function useCampaignNames() {
  return useQuery({
    queryKey: ["campaigns", "names"],
    staleTime: 30_000,
    queryFn: async () => {
      const campaigns = await unwrap(api.GET("/api/v1/campaign/", { params: { query: { limit: 100 } } }));
      return campaigns.map((campaign) => ({ value: String(campaign.id), label: campaign.name }));
    },
  });
}
