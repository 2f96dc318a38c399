/** The page of one run. */

import { useParams, useSearch } from "@tanstack/react-router";
import { RunPage } from "../../features/runs";

export function RunScreen() {
  const { agentId, runId } = useParams({ from: "/signed-in/agents/$agentId/runs/$runId" });
  const { at, listen } = useSearch({ from: "/signed-in/agents/$agentId/runs/$runId" });
  return <RunPage agentId={agentId} runId={runId} startAt={at ?? 0} isListening={listen === true} />;
}
