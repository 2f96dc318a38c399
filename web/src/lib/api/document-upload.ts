/** Uploads of documents, from the list of documents and from the steps that use them. */

import { currentToken } from "./session";
import type { Schema } from "./types";
import { uploadFile } from "./upload";

/** The files that can be read, as a file dialog takes them. */
export const DOCUMENT_KINDS = ".pdf,.docx,.txt,.md,.html,.htm,.csv";

export async function uploadDocument(
  file: File,
  onShare: (share: number) => void,
): Promise<Schema<"DocumentResponse">> {
  const body = new FormData();
  body.set("file", file);
  const answer = await uploadFile({
    method: "POST",
    address: "/api/v1/knowledge-base/",
    body,
    headers: { Authorization: `Bearer ${currentToken() ?? ""}` },
    onShare,
  });
  return answer as Schema<"DocumentResponse">;
}
