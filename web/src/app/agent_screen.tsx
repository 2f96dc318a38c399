/** The page of one agent: its head, talking and writing with it, its map, its conversations. */

import { SegmentedControl, Skeleton, Stack } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Panel } from "../components/panel";
import { Problem } from "../components/problem";
import { AgentHeader, FlowPanel, useAgent } from "../features/agents";
import { ChatPanel } from "../features/chat";
import { RunsPanel } from "../features/runs";
import { TalkPanel, useCall } from "../features/talk";
import { ApiError } from "../lib/errors";
import type { Agent } from "../lib/types";
import classes from "./agent_screen.module.css";
import { NotFound } from "./not_found";

export function AgentScreen() {
  const { agentId } = useParams({ from: "/signed-in/agents/$agentId" });
  const agent = useAgent(agentId);
  if (agent.isPending) return <Skeleton h={480} radius={14} />;
  if (agent.isError) {
    if (agent.error instanceof ApiError && [404, 422].includes(agent.error.status)) return <NotFound />;
    return <Problem title="The agent could not be loaded" error={agent.error} onRetry={() => void agent.refetch()} />;
  }
  return <AgentView key={agentId} agent={agent.data} />;
}

function AgentView({ agent }: { agent: Agent }) {
  const call = useCall(agent.id);
  const version = agent.has_draft ? `draft v${agent.version_number}` : `published v${agent.version_number}`;
  useDocumentTitle(`${agent.name} · Offhook`);
  return (
    <Stack gap="lg">
      <AgentHeader agent={agent} />
      <div className={classes.columns}>
        <TalkPanel agentId={agent.id} agentName={agent.name} version={version} call={call} />
        <Side agent={agent} liveNodeId={call.state.conversation.nodeId} />
      </div>
      <RunsPanel agentId={agent.id} />
    </Stack>
  );
}

/** Both stay mounted, so that a chat is still there after a look at the map. */
function Side({ agent, liveNodeId }: { agent: Agent; liveNodeId: string | null }) {
  const [shown, setShown] = useState("flow");
  const tabs = (
    <SegmentedControl
      size="xs"
      aria-label="Beside the call"
      value={shown}
      onChange={setShown}
      data={[
        { value: "flow", label: "Conversation map" },
        { value: "chat", label: "Text chat" },
      ]}
    />
  );
  return (
    <Panel title={tabs} className={classes.side}>
      <div className={classes.pane} hidden={shown !== "flow"}>
        <FlowPanel definition={agent.workflow_definition} liveNodeId={liveNodeId} />
      </div>
      <div className={classes.pane} hidden={shown !== "chat"}>
        <ChatPanel agentId={agent.id} agentName={agent.name} />
      </div>
    </Panel>
  );
}
