/** What the server said about one setting when it refused to save. */

import type { Saving } from "../../graph/autosave";
import { fieldErrors } from "../../lib/errors";

export function settingError(saving: Saving, path: string): string | undefined {
  if (saving.name !== "failed") return undefined;
  const name = `workflow_configurations.${path}`;
  return fieldErrors(saving.error, [name])[name];
}
