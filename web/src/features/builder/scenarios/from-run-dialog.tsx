/** The form of a scenario that is made of a run. Nothing is stored before it is saved. */

import { Loader, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Problem } from "../../../components/feedback/problem";
import { Dialog } from "../../../components/forms/dialog";
import { runScenarioQuery } from "../../../lib/runs/run-scenario";
import { useEditorContext } from "../state/editor";
import { nameFrom, type PlainScenario } from "./scenario";
import { ScenarioDialog } from "./scenario-dialog";

interface FromRunDialogProps {
  runId: number;
  /** The names of the agent's scenarios. */
  taken: readonly string[];
  onClose: () => void;
}

export function FromRunDialog({ runId, taken, onClose }: FromRunDialogProps) {
  const { agent } = useEditorContext();
  const { data, error, refetch } = useQuery(runScenarioQuery(agent.id, runId));
  if (data === undefined)
    return (
      <Dialog title="New scenario" isOpen onClose={onClose}>
        {error === null ? (
          <Loader aria-label="Loading the scenario" />
        ) : (
          <Problem error={error} onRetry={() => void refetch()} />
        )}
      </Dialog>
    );
  const scenario = data as PlainScenario;
  return (
    <ScenarioDialog
      stored={null}
      draft={{ ...scenario, name: nameFrom(scenario.name, taken) }}
      taken={taken}
      onClose={onClose}
      note={
        <Text fz="sm" c="dimmed">
          Made from a real conversation. Before you save it, replace names and numbers, and add what the agent must say.
          No words are checked yet.
        </Text>
      }
    />
  );
}
