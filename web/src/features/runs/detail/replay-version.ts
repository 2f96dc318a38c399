/** With which version of its agent a run is played again. */

import { useAgent } from "../../../lib/organization/agent";

interface ReplayVersion {
  /** As a button says it. */
  name: string;
  /** Null: the draft, which the API takes without a number. */
  number: number | null;
}

/** The draft, or the published version where there is no draft; null until that is known. */
export function useReplayVersion(agentId: number): ReplayVersion | null {
  const agent = useAgent(agentId).data;
  if (agent === undefined) return null;
  if (agent.has_draft) return { name: "the draft", number: null };
  const number = agent.published_version_number ?? agent.version_number;
  return { name: `the published version (v${number})`, number };
}
