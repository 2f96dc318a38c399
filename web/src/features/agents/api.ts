/** Requests about agents. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import { starterDefinition } from "./starter";

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: () => unwrap(api.GET("/api/v1/workflow/fetch", { params: { query: { status: "active,archived" } } })),
  });
}

export function useCreateAgent() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      unwrap(
        api.POST("/api/v1/workflow/create/definition", {
          body: { name, workflow_definition: starterDefinition(name) },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["agents"] }),
  });
}

/** The language model writes the steps from a description. */
export function useWriteAgent() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { call_type: "inbound" | "outbound"; use_case: string; activity_description: string }) =>
      unwrap(api.POST("/api/v1/workflow/create/template", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["agents"] }),
  });
}
