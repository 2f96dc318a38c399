/** Files that need the credential, so that a plain link cannot fetch them. */

import { errorFrom, fetchOrFail } from "./errors";
import { currentToken } from "./session";

/** Saves what `path` answers under `name`. */
export async function downloadFile(path: string, name: string): Promise<void> {
  const response = await fetchOrFail(path, { headers: { Authorization: `Bearer ${currentToken() ?? ""}` } });
  if (!response.ok) throw errorFrom(response.status, await response.json().catch(() => null));
  saveFile(await response.blob(), name);
}

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
