/** Requests of the text chat: the same engine as a call, without audio. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/client";

export function useStartChat(agentId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions", { params: { path: { workflow_id: agentId } }, body: {} })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
}

export function useSay(agentId: number) {
  return useMutation({
    mutationFn: ({ runId, text }: { runId: number; text: string }) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/messages", {
          params: { path: { workflow_id: agentId, run_id: runId } },
          body: { text },
        }),
      ),
  });
}

export function useEndChat(agentId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (runId: number) =>
      unwrap(api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/end", { params: { path: { workflow_id: agentId, run_id: runId } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
}
