/** Requests about agents. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/client";
import { starterDefinition } from "./starter";

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: () => unwrap(api.GET("/api/v1/workflow/fetch", { params: { query: { status: "active,archived" } } })),
  });
}

export function useAgent(id: number) {
  return useQuery({
    queryKey: ["agent", id],
    queryFn: () => unwrap(api.GET("/api/v1/workflow/fetch/{workflow_id}", { params: { path: { workflow_id: id } } })),
  });
}

export function useValidation(id: number) {
  return useQuery({
    queryKey: ["agent", id, "validation"],
    queryFn: () => unwrap(api.POST("/api/v1/workflow/{workflow_id}/validate", { params: { path: { workflow_id: id } } })),
  });
}

export function useCreateAgent() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      unwrap(api.POST("/api/v1/workflow/create/definition", { body: { name, workflow_definition: starterDefinition(name) } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["agents"] }),
  });
}

export function usePublish(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/workflow/{workflow_id}/publish", { params: { path: { workflow_id: id } } })),
    onSettled: async () => {
      await Promise.all([queries.invalidateQueries({ queryKey: ["agent", id] }), queries.invalidateQueries({ queryKey: ["agents"] })]);
    },
  });
}
