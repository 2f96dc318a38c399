/** What the server said about one setting when it refused to save. */

import type { Saving } from "../../../graph/editing/autosave";
import { fieldErrors, problemsOf } from "../../../lib/api/errors";

/** What the fields of a model are called in the settings of an agent. */
export const MODEL_LABELS = {
  api_key: "API key",
  base_url: "Base URL",
  max_tokens: "Max output tokens",
  provider: "Vendor",
  voice_id: "Voice",
};

/** The one refusal of settings that is about two of them. */
export const NO_MESSAGE = "Enter a message, or choose another action.";

export function settingError(saving: Saving, path: string): string | undefined {
  if (saving.name !== "failed") return undefined;
  const name = `workflow_configurations.${path}`;
  if (
    path === "voicemail_detection.message" &&
    problemsOf(saving.error).some((problem) => problem.path === "workflow_configurations.voicemail_detection")
  )
    return NO_MESSAGE;
  return fieldErrors(saving.error, [name], MODEL_LABELS)[name];
}
