/** Requests about how long an agent's calls are kept. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { keepAnswer } from "../../../lib/api/keep-answer";
import type { Schema } from "../../../lib/api/types";

export function useAgentRetention(id: number) {
  return useQuery({
    queryKey: ["agent", id, "retention"],
    queryFn: () =>
      unwrap(api.GET("/api/v1/workflow/{workflow_id}/retention", { params: { path: { workflow_id: id } } })),
  });
}

export function useSaveAgentRetention(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"AgentRetentionUpdate">) =>
      unwrap(api.PUT("/api/v1/workflow/{workflow_id}/retention", { params: { path: { workflow_id: id } }, body })),
    onSuccess: (saved) => keepAnswer(queries, ["agent", id, "retention"], saved),
  });
}
