/** Requests about runs. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/client";
import type { Run } from "../../lib/types";

const LIVE = ["initiated", "ringing", "in_progress"];

export function isLive(run: Pick<Run, "status">): boolean {
  return LIVE.includes(run.status);
}

export function useRuns(agentId: number, page: number, limit: number) {
  return useQuery({
    queryKey: ["runs", agentId, page, limit],
    placeholderData: (before) => before,
    refetchInterval: (query) => (query.state.data?.runs.some(isLive) ? 3_000 : false),
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/runs", { params: { path: { workflow_id: agentId }, query: { page, limit } } })),
  });
}

export function useRun(agentId: number, runId: number) {
  return useQuery({
    queryKey: ["runs", agentId, "one", runId],
    refetchInterval: (query) => (query.state.data && isLive(query.state.data) ? 2_000 : false),
    queryFn: () =>
      unwrap(api.GET("/api/v1/workflow/{workflow_id}/runs/{run_id}", { params: { path: { workflow_id: agentId, run_id: runId } } })),
  });
}
