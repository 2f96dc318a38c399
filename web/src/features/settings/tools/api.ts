/** Requests about tools and the credentials they sign in with. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { useLongList } from "../../../lib/api/long-list";
import type { Schema } from "../../../lib/api/types";

export type Tool = Schema<"ToolResponse">;
export type Credential = Schema<"CredentialResponse">;

const at = (uuid: string) => ({ params: { path: { tool_uuid: uuid } } });

export function useTools() {
  return useLongList(["tools", "all"], (part) =>
    unwrap(api.GET("/api/v1/tools/", { params: { query: { status: "active,draft,archived", ...part } } })),
  );
}

export function useSaveTool(uuid: string | null) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Omit<Schema<"CreateToolRequest">, "icon" | "icon_color">) =>
      uuid === null
        ? unwrap(api.POST("/api/v1/tools/", { body: body as Schema<"CreateToolRequest"> }))
        : unwrap(
            api.PUT("/api/v1/tools/{tool_uuid}", {
              ...at(uuid),
              body: {
                name: body.name,
                description: body.description ?? null,
                definition: body.definition,
              },
            }),
          ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["tools"] }),
  });
}

export function useArchiveTool() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ uuid, isArchived }: { uuid: string; isArchived: boolean }): Promise<void> => {
      if (isArchived) await unwrap(api.POST("/api/v1/tools/{tool_uuid}/unarchive", at(uuid)));
      else await unwrap(api.DELETE("/api/v1/tools/{tool_uuid}", at(uuid)));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["tools"] }),
  });
}

export function useTestTool(uuid: string) {
  return useMutation({
    mutationFn: (values: Record<string, unknown>) =>
      unwrap(
        api.POST("/api/v1/tools/{tool_uuid}/test", {
          ...at(uuid),
          body: { llm_params: values, preset_params: values },
        }),
      ),
  });
}

/** A request with a definition that is not stored. */
export function useTestDraft() {
  return useMutation({
    mutationFn: (sent: { definition: Schema<"CreateToolRequest">["definition"]; values: Record<string, unknown> }) =>
      unwrap(
        api.POST("/api/v1/tools/test", {
          body: { definition: sent.definition, llm_params: sent.values, preset_params: sent.values },
        }),
      ),
  });
}

export function useRefreshMcp() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (uuid: string) => unwrap(api.POST("/api/v1/tools/{tool_uuid}/mcp/refresh", at(uuid))),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tools"] }),
  });
}

export function useCredentials() {
  return useLongList(["credentials", "all"], (part) =>
    unwrap(api.GET("/api/v1/credentials/", { params: { query: part } })),
  );
}

/** Every one, to choose of. */
export function useCredentialChoices() {
  return useQuery({ queryKey: ["credentials"], queryFn: () => unwrap(api.GET("/api/v1/credentials/")) });
}

export function useSaveCredential(uuid: string | null) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"CreateCredentialRequest">) =>
      uuid === null
        ? unwrap(api.POST("/api/v1/credentials/", { body }))
        : unwrap(
            api.PUT("/api/v1/credentials/{credential_uuid}", { params: { path: { credential_uuid: uuid } }, body }),
          ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["credentials"] }),
  });
}

export function useDeleteCredential() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (uuid: string) =>
      unwrap(api.DELETE("/api/v1/credentials/{credential_uuid}", { params: { path: { credential_uuid: uuid } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["credentials"] }),
  });
}
