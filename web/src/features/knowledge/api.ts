/** Requests about documents. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import { useLongList } from "../../lib/api/long-list";
import type { Schema } from "../../lib/api/types";

export type Document = Schema<"DocumentResponse">;

const isBeingRead = (document: Document) =>
  document.status === "processing" || document.web_page?.is_being_read === true;

export function useDocuments(hasArchived: boolean) {
  return useLongList(
    ["documents", hasArchived],
    (part) => unwrap(api.GET("/api/v1/knowledge-base/", { params: { query: { ...part, has_archived: hasArchived } } })),
    (documents) => (documents.some(isBeingRead) ? 1_500 : false),
  );
}

/** Whether there is any that the list without the archived ones leaves out. */
export function useHasArchived(isWanted: boolean): boolean {
  const found = useQuery({
    queryKey: ["documents", "archived"],
    enabled: isWanted,
    queryFn: () => unwrap(api.GET("/api/v1/knowledge-base/", { params: { query: { status: "archived", limit: 1 } } })),
  });
  return (found.data?.length ?? 0) > 0;
}

const at = (id: string) => ({ params: { path: { document_id: id } } });

export function useArchive() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, isArchived }: { id: string; isArchived: boolean }) =>
      isArchived
        ? unwrap(api.POST("/api/v1/knowledge-base/{document_id}/unarchive", at(id)))
        : unwrap(api.DELETE("/api/v1/knowledge-base/{document_id}", at(id))),
    onSettled: () => queries.invalidateQueries({ queryKey: ["documents"] }),
  });
}

export function useReadAgain() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.POST("/api/v1/knowledge-base/{document_id}/read-again", at(id))),
    onSettled: () => queries.invalidateQueries({ queryKey: ["documents"] }),
  });
}

export function useUpdateDocument(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"DocumentUpdate">) =>
      unwrap(api.PATCH("/api/v1/knowledge-base/{document_id}", { ...at(id), body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["documents"] }),
  });
}

export function useSearchDocuments() {
  return useMutation({
    mutationFn: (query: string) => unwrap(api.POST("/api/v1/knowledge-base/search", { body: { query, limit: 6 } })),
  });
}
