/** The strips of runs, measured by the server: one for a run's page, small ones for lists. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { Schema } from "../api/types";

type Strip = Schema<"CallStrip">;

/** A strip never changes once the run is over. */
const FOREVER = { staleTime: Infinity } as const;

export function useRunStrip(agentId: number, runId: number, isOver: boolean) {
  return useQuery({
    ...FOREVER,
    queryKey: ["strips", runId],
    enabled: isOver,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/runs/{run_id}/strip", {
          params: { path: { workflow_id: agentId, run_id: runId } },
        }),
      ),
  });
}

/** Those of a list's finished runs, by id; asks again while the server still measures some. */
export function useRunStrips(runIds: readonly number[]): ReadonlyMap<number, Strip> {
  const found = useQuery({
    ...FOREVER,
    queryKey: ["strips", "list", runIds],
    enabled: runIds.length > 0,
    placeholderData: (before) => before,
    refetchInterval: (query) => ((query.state.data?.pending.length ?? 0) > 0 ? 1_000 : false),
    queryFn: () =>
      unwrap(api.GET("/api/v1/organizations/usage/strips", { params: { query: { run_ids: [...runIds] } } })),
  });
  return new Map((found.data?.strips ?? []).map((strip) => [strip.workflow_run_id, strip]));
}
