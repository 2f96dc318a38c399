/** Beside the canvas: the form of what is chosen, tries, settings, versions. All stay mounted, so that a call goes on. */

import { SegmentedControl, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { Inspector, SettingsPanel, VersionsPanel, type Editor } from "../features/builder";
import { ChatPanel } from "../features/chat";
import { TalkPanel } from "../features/talk";
import type { Agent } from "../lib/types";
import classes from "./agent_screen.module.css";
import type { Bench, BenchMode } from "./use_bench";

interface AgentDockProps {
  agent: Agent;
  canEdit: boolean;
  bench: Bench;
  selection: Editor["selection"];
}

export function AgentDock({ agent, canEdit, bench, selection }: AgentDockProps) {
  const [shown, setShown] = useState(canEdit ? "test" : "step");
  const chosen = [...selection.stepIds, ...selection.wayIds].join(" ");
  useEffect(() => {
    if (chosen !== "") setShown("step");
  }, [chosen]);
  const tabs = [
    { value: "step", label: "Step" },
    ...(canEdit ? [{ value: "test", label: "Test" }] : []),
    { value: "settings", label: "Settings" },
    { value: "versions", label: "Versions" },
  ];
  return (
    <>
      <div className={classes.dockTabs}>
        <SegmentedControl size="xs" fullWidth aria-label="Beside the canvas" value={shown} onChange={setShown} data={tabs} />
      </div>
      <div className={classes.pane} hidden={shown !== "step"}>
        <Inspector />
      </div>
      {canEdit && (
        <div className={classes.pane} hidden={shown !== "test"}>
          <BenchPane agent={agent} bench={bench} />
        </div>
      )}
      <div className={classes.pane} hidden={shown !== "settings"}>
        {shown === "settings" && <SettingsPanel />}
      </div>
      <div className={classes.pane} hidden={shown !== "versions"}>
        {shown === "versions" && <VersionsPanel />}
      </div>
    </>
  );
}

function BenchPane({ agent, bench }: { agent: Agent; bench: Bench }) {
  const version = agent.has_draft ? `draft v${agent.version_number}` : `published v${agent.version_number}`;
  return (
    <>
      <div className={classes.benchTabs}>
        <SegmentedControl
          size="xs"
          aria-label="How to try it"
          value={bench.mode}
          onChange={(mode) => bench.setMode(mode as BenchMode)}
          data={[
            { value: "talk", label: "Talk" },
            { value: "type", label: "Type" },
          ]}
        />
        <Text span fz="xs" c="dimmed" ml={10}>
          with the {version}
        </Text>
      </div>
      <div className={classes.pane} hidden={bench.mode !== "talk"}>
        <TalkPanel agentId={agent.id} agentName={agent.name} call={bench.call} />
      </div>
      <div className={classes.pane} hidden={bench.mode !== "type"}>
        <ChatPanel chat={bench.chat} agentName={agent.name} />
      </div>
    </>
  );
}
