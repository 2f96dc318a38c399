/** What the server said about one setting when it refused to save. */

import type { Saving } from "../../../graph/editing/autosave";
import { fieldErrors, problemsOf } from "../../../lib/api/errors";

/** The one refusal of settings that is about two of them. */
export const NO_MESSAGE = "Write what the machine hears, or let the agent do something else.";

export function settingError(saving: Saving, path: string): string | undefined {
  if (saving.name !== "failed") return undefined;
  const name = `workflow_configurations.${path}`;
  if (
    path === "voicemail_detection.message" &&
    problemsOf(saving.error).some((problem) => problem.path === "workflow_configurations.voicemail_detection")
  )
    return NO_MESSAGE;
  return fieldErrors(saving.error, [name])[name];
}
