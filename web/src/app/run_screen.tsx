/** The page of one run. */

import { useParams } from "@tanstack/react-router";
import { RunPage } from "../features/runs";

export function RunScreen() {
  const { agentId, runId } = useParams({ from: "/signed-in/agents/$agentId/runs/$runId" });
  return <RunPage agentId={agentId} runId={runId} />;
}
