/** Requests for what a step may refer to: tools, documents, recordings, credentials. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";
import { humanize } from "../../../lib/format/format";

const FRESH_MS = 30_000;

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

export function useTools() {
  return useQuery({
    queryKey: ["tools"],
    staleTime: FRESH_MS,
    queryFn: () => unwrap(api.GET("/api/v1/tools/", { params: { query: { status: "active" } } })),
    select: (tools): Choice[] =>
      tools.map((tool) => ({
        value: tool.tool_uuid,
        label: tool.name,
        ...(tool.description ? { hint: tool.description } : {}),
      })),
  });
}

export function useRecordings() {
  return useQuery({
    queryKey: ["recordings"],
    staleTime: FRESH_MS,
    queryFn: () => unwrap(api.GET("/api/v1/workflow-recordings/")),
    select: (answer): Choice[] =>
      answer.recordings.map((item) => ({ value: item.recording_id, label: item.recording_id, hint: item.transcript })),
  });
}

export function useCredentials() {
  return useQuery({
    queryKey: ["credentials"],
    staleTime: FRESH_MS,
    queryFn: () => unwrap(api.GET("/api/v1/credentials/")),
    select: (credentials): Choice[] => credentials.map((item) => ({ value: item.uuid, label: item.name })),
  });
}

/** What a document that cannot be looked up yet waits for. */
function hintOf(status: Schema<"DocumentResponse">["status"]): { hint?: string } {
  return status === "ready" ? {} : { hint: humanize(status) };
}

export function useDocuments() {
  return useQuery({
    queryKey: ["documents", "choices"],
    staleTime: FRESH_MS,
    queryFn: () =>
      unwrap(api.GET("/api/v1/knowledge-base/", { params: { query: { limit: 100, has_archived: false } } })),
    select: (documents): Choice[] =>
      documents.map((item) => ({ value: item.id, label: item.name, ...hintOf(item.status) })),
  });
}
