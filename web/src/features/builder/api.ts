/** Requests of the editor. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Conflict } from "../../graph/editing/autosave";
import { withoutTriggerPaths } from "../../graph/editing/clipboard";
import { type Data, type Definition, parse } from "../../graph/definition";
import { inPageWords } from "../../graph/readable";
import type { NodeSpec, PropertySpec } from "../../graph/specs";
import { api, unwrap } from "../../lib/api/client";
import { ApiError } from "../../lib/api/errors";
import type { Agent } from "../../lib/api/types";
import { fetchAgent } from "../../lib/organization/agent";

const READING_MS = 2_000;

/** What one save stores, and what undo goes back through. */
export interface Document {
  definition: Definition;
  configurations: Data;
  variables: Data;
}

export function documentOf(agent: Agent): Document {
  return {
    definition: parse(agent.workflow_definition),
    configurations: agent.workflow_configurations,
    variables: agent.template_context_variables,
  };
}

/** Stores the document as the draft. Throws `Conflict` when another user has changed the agent since `revision`. */
export async function saveDocument(id: number, document: Document, revision: number): Promise<Agent> {
  try {
    return await unwrap(
      api.PUT("/api/v1/workflow/{workflow_id}", {
        params: { path: { workflow_id: id }, header: { "if-match": `"${revision}"` } },
        body: {
          workflow_definition: document.definition,
          workflow_configurations: document.configurations,
          template_context_variables: document.variables,
        },
      }),
    );
  } catch (error) {
    if (error instanceof ApiError && error.code === "revision_conflict")
      throw new Conflict((await fetchAgent(id)).revision);
    throw error;
  }
}

/** Stores the document as an agent of its own, beside this one. */
export async function saveAsCopy(id: number, document: Document): Promise<Agent> {
  const copy = await unwrap(
    api.POST("/api/v1/workflow/{workflow_id}/duplicate", { params: { path: { workflow_id: id } } }),
  );
  try {
    const definition = withoutTriggerPaths(document.definition);
    return await saveDocument(copy.id, { ...document, definition }, copy.revision);
  } catch (error) {
    // It has what is stored already, and would be taken for what is here.
    await unwrap(api.DELETE("/api/v1/workflow/{workflow_id}", { params: { path: { workflow_id: copy.id } } }));
    throw error;
  }
}

/** The API calls them nodes, as its clients do; the page calls them steps. */
const STEP_NAMES: Partial<Record<string, string>> = { agentNode: "Agent Step", globalNode: "Global Prompt" };

/** A field, and those within it, in the words of the page. */
function withSteps(property: PropertySpec): PropertySpec {
  const { properties, options } = property;
  return {
    ...property,
    display_name: inPageWords(property.display_name),
    description: inPageWords(property.description),
    ...(properties ? { properties: properties.map(withSteps) } : {}),
    ...(options ? { options: options.map((option) => ({ ...option, label: inPageWords(option.label) })) } : {}),
  };
}

export function useNodeTypes() {
  return useQuery({
    queryKey: ["node-types"],
    staleTime: Infinity,
    queryFn: async () => {
      const answer = await unwrap(api.GET("/api/v1/node-types"));
      const limits = answer.instance_limits;
      return new Map<string, NodeSpec>(
        answer.node_types.map((spec) => [
          spec.name,
          {
            ...spec,
            display_name: STEP_NAMES[spec.name] ?? spec.display_name,
            description: inPageWords(spec.description),
            properties: spec.properties.map(withSteps),
            max_instances: limits[spec.name]?.max_instances,
          },
        ]),
      );
    },
  });
}

export async function fetchValidation(id: number) {
  return unwrap(api.POST("/api/v1/workflow/{workflow_id}/validate", { params: { path: { workflow_id: id } } }));
}

export function useValidation(id: number) {
  return useQuery({
    queryKey: ["agent", id, "validation"],
    placeholderData: (before) => before,
    // A document of a new agent is usually read within seconds; its warning leaves by itself.
    refetchInterval: ({ state }) =>
      state.data?.warnings.some(({ code }) => code === "document_processing") ? READING_MS : false,
    queryFn: () => fetchValidation(id),
  });
}

/** After a change of an agent on the server: everything that shows it. */
export function useRefresh(id: number) {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["agent", id] }),
      queries.invalidateQueries({ queryKey: ["agents"] }),
    ]);
  };
}

export function usePublish(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: ({ revision, note, override }: { revision: number; note: string; override: string }) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/publish", {
          params: { path: { workflow_id: id }, header: { "if-match": `"${revision}"` } },
          body: { ...(note === "" ? {} : { note }), ...(override === "" ? {} : { gate_override: override }) },
        }),
      ),
    onSettled: refresh,
  });
}

export function useRename(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (name: string) =>
      unwrap(api.PUT("/api/v1/workflow/{workflow_id}", { params: { path: { workflow_id: id } }, body: { name } })),
    onSuccess: refresh,
  });
}

export function useVersions(id: number) {
  return useQuery({
    queryKey: ["agent", id, "versions"],
    queryFn: () =>
      unwrap(api.GET("/api/v1/workflow/{workflow_id}/versions", { params: { path: { workflow_id: id } } })),
  });
}

export function useRestore(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (number: number) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/versions/{number}/restore", {
          params: { path: { workflow_id: id, number } },
        }),
      ),
    onSuccess: refresh,
  });
}
