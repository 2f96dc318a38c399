/** The scenario that is made of a run: asked for on the run's page, and opened on the agent's. */

import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";

const FRESH_MS = 60_000;

export function runScenarioQuery(agentId: number, runId: number) {
  return queryOptions({
    queryKey: ["run-scenario", agentId, runId],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/runs/{run_id}/scenario", {
          params: { path: { workflow_id: agentId, run_id: runId } },
        }),
      ),
  });
}
