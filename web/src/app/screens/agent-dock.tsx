/** Side panel: the form of what is chosen, tries, scenarios, settings, versions. */

import { SegmentedControl } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type Editor, Inspector, ScenariosPanel, SettingsPanel, VersionsPanel } from "../../features/builder";
import type { Agent } from "../../lib/api/types";
import classes from "./agent-screen.module.css";
import { TestPanel } from "./test-panel";
import type { TestPanelState } from "./use-test-panel";

interface AgentDockProps {
  agent: Agent;
  canEdit: boolean;
  testPanel: TestPanelState;
  selection: Editor["selection"];
  form: Editor["form"];
  /** The run that a scenario is made of. */
  scenarioFrom: number | undefined;
}

export function AgentDock({ agent, canEdit, testPanel, selection, form, scenarioFrom }: AgentDockProps) {
  const [shown, setShown] = useState(scenarioFrom !== undefined ? "scenarios" : canEdit ? "test" : "node");
  const navigate = useNavigate();
  // Once: the page that is loaded again does not open it again.
  const forgetRun = () => void navigate({ to: "/agents/$agentId", params: { agentId: agent.id }, replace: true });
  useEffect(() => {
    if (scenarioFrom !== undefined) setShown("scenarios");
  }, [scenarioFrom]);
  const chosen = [...selection.nodeIds, ...selection.edgeIds].join(" ");
  useEffect(() => {
    if (chosen !== "") setShown("node");
  }, [chosen]);
  useEffect(() => {
    if (form !== null) setShown("node");
  }, [form]);
  const tabs = [
    { value: "node", label: "Step" },
    ...(canEdit ? [{ value: "test", label: "Test" }] : []),
    { value: "scenarios", label: "Scenarios" },
    { value: "settings", label: "Settings" },
    { value: "versions", label: "Versions" },
  ];
  return (
    <>
      <div className={classes.dockTabs}>
        <SegmentedControl size="xs" fullWidth aria-label="Side panel" value={shown} onChange={setShown} data={tabs} />
      </div>
      <div className={classes.pane} hidden={shown !== "node"}>
        <Inspector />
      </div>
      {canEdit && (
        <div className={[classes.pane, classes.bench].join(" ")} hidden={shown !== "test"}>
          <TestPanel agent={agent} testPanel={testPanel} />
        </div>
      )}
      <div className={classes.pane} hidden={shown !== "scenarios"}>
        {shown === "scenarios" && <ScenariosPanel fromRun={scenarioFrom} onFromRunDone={forgetRun} />}
      </div>
      <div className={classes.pane} hidden={shown !== "settings"}>
        {shown === "settings" && <SettingsPanel />}
      </div>
      <div className={classes.pane} hidden={shown !== "versions"}>
        {shown === "versions" && <VersionsPanel />}
      </div>
    </>
  );
}
