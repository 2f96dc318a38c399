/** What the server said about one setting when it refused to save. */

import type { Saving } from "../../graph/autosave";
import { ApiError } from "../../lib/errors";

export function settingError(saving: Saving, path: string): string | undefined {
  if (saving.name !== "failed" || !(saving.error instanceof ApiError)) return undefined;
  const fields = "fields" in saving.error ? (saving.error.fields as { path: string; message: string }[]) : [];
  return fields.find((field) => field.path === `workflow_configurations.${path}` || field.path.startsWith(`workflow_configurations.${path}.`))?.message;
}
