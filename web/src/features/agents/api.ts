/** Requests about agents. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import type { Schema } from "../../lib/api/types";
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

export function useTemplates() {
  return useQuery({
    queryKey: ["templates"],
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET("/api/v1/workflow/templates")),
  });
}

/** Creates the agent together with its documents and tools. */
export function useCreateFromTemplate() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ templateId, name }: { templateId: string; name: string }) =>
      unwrap(
        api.POST("/api/v1/workflow/templates/{template_id}/create", {
          params: { path: { template_id: templateId } },
          body: { name },
        }),
      ),
    onSuccess: () =>
      Promise.all(["agents", "documents", "tools"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
}

export function useImportAgent() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"AgentFile">) => unwrap(api.POST("/api/v1/workflow/import", { body })),
    onSuccess: () => Promise.all(["agents", "tools"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
}

/** Whether the organization has a language model that can write an agent; the offline one cannot. */
export function useHasWritingModel(): boolean {
  const models = useQuery({
    queryKey: ["models"],
    staleTime: 60_000,
    retry: false,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/model-configurations/v2")),
  });
  const provider = models.data?.effective.llm.provider;
  return provider !== undefined && provider !== "builtin";
}

const SAMPLE_CHECK_MS = 5_000;
const MAX_SAMPLE_CHECKS = 24;

/** The recorded call of a demo agent with a simulated caller, which the first start makes; also while it is being made. */
export function useSampleCall(isWanted: boolean) {
  return useQuery({
    queryKey: ["runs", "sample"],
    enabled: isWanted,
    retry: false,
    queryFn: async () => {
      const filters = JSON.stringify([{ field: "context.sample_call", type: "boolean", value: true }]);
      const { items } = await unwrap(
        api.GET("/api/v1/organizations/usage/runs", { params: { query: { filters, page: 1, limit: 1 } } }),
      );
      return items[0] ?? null;
    },
    // It is made in the first minute; a newcomer is here before it is over.
    refetchInterval: ({ state }) =>
      state.data?.status === "completed" || state.dataUpdateCount >= MAX_SAMPLE_CHECKS ? false : SAMPLE_CHECK_MS,
  });
}
