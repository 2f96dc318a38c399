/** Requests about the canary of an agent: a version that takes a share of calls first. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";
import { useRefresh } from "../api";

export type Canary = Schema<"CanaryResponse">;
export type CanarySide = Schema<"CanarySide">;
export type Direction = "forward" | "back";

const POLL_MS = 20_000;
const agentPath = (id: number) => ({ path: { workflow_id: id } });

/** The canary that takes calls, or else the last one; null when there was none. */
export function useCanary(id: number) {
  return useQuery({
    queryKey: ["agent", id, "canary"],
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/canary", { params: agentPath(id) })),
    refetchInterval: (query) => (query.state.data?.state === "running" ? POLL_MS : false),
  });
}

interface CanaryStart {
  revision: number;
  share: number;
  note: string;
  override: string;
}

export function useStartCanary(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: ({ revision, share, note, override }: CanaryStart) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/canary", {
          params: { ...agentPath(id), header: { "if-match": `"${revision}"` } },
          body: {
            share,
            ...(note === "" ? {} : { note }),
            ...(override === "" ? {} : { gate_override: override }),
          } as Schema<"StartCanaryRequest">,
        }),
      ),
    onSettled: refresh,
  });
}

export function useChangeShare(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (body: Schema<"ChangeCanaryRequest">) =>
      unwrap(api.PUT("/api/v1/workflow/{workflow_id}/canary", { params: agentPath(id), body })),
    onSettled: refresh,
  });
}

export function useEndCanary(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (body: Schema<"EndCanaryRequest">) =>
      unwrap(api.POST("/api/v1/workflow/{workflow_id}/canary/end", { params: agentPath(id), body })),
    onSettled: refresh,
  });
}
