/** Makes a scenario from a run, and opens it in the side panel of the run's agent. */

import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import type { Run } from "../../../lib/api/types";
import { usePermissions } from "../../../lib/organization/organization-context";
import { runScenarioQuery } from "../../../lib/runs/run-scenario";
import { notifyError } from "../../../lib/ui/notifications";
import { isLive } from "../../../lib/runs/run-state";

interface MakeScenarioProps {
  agentId: number;
  run: Pick<Run, "id" | "mode" | "status">;
}

/** Not there while the run goes on, and for those who may not change the agent. */
export function MakeScenario({ agentId, run }: MakeScenarioProps) {
  const { write: canWrite } = usePermissions();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const make = useMutation({
    // A run that gives no scenario says why here, where its transcript is.
    mutationFn: () => queries.query(runScenarioQuery(agentId, run.id)),
    onSuccess: () => navigate({ to: "/agents/$agentId", params: { agentId }, search: { scenario_from: run.id } }),
    onError: notifyError,
  });
  if (!canWrite || isLive(run)) return null;
  return (
    <Button
      variant="default"
      leftSection={<FlaskConical size={16} />}
      loading={make.isPending}
      onClick={() => make.mutate()}
    >
      Make a scenario from this {run.mode === "textchat" ? "chat" : "call"}
    </Button>
  );
}
