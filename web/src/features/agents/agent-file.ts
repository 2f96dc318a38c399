/** The file of an agent before it is sent: what is certainly none is said at once. */

import type { Schema } from "../../lib/api/types";

const MAX_FILE_CHARS = 4_000_000;

type AgentFileContent = Schema<"AgentFile">;

export function readAgentFile(text: string): { content: AgentFileContent } | { problem: string } {
  if (text.length > MAX_FILE_CHARS) return { problem: "This file is too large for an agent." };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "This file is not JSON. Choose a file that was exported from an agent." };
  }
  if (typeof value !== "object" || value === null || !("workflow_definition" in value))
    return { problem: "This file has no agent. Choose a file that was exported from an agent." };
  return { content: value as AgentFileContent };
}
