/** The three ways to try an agent; each comes when it is first chosen and stays, so that looking at another does not end a call. */

import { SegmentedControl, Text } from "@mantine/core";
import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { ChatPanel, SpokenPanel } from "../../features/chat";
import { SimulatePanel } from "../../features/simulate";
import { TalkPanel, isBusy } from "../../features/talk";
import { nodeName, parse } from "../../graph/definition";
import type { Agent } from "../../lib/api/types";
import classes from "./agent-screen.module.css";
import type { TestPanelState } from "./use-test-panel";
import { VoiceChips } from "./voice-chips";

const TALKING: ReadonlySet<string> = new Set(["startCall", "agentNode", "endCall"]);

export function TestPanel({ agent, testPanel }: { agent: Agent; testPanel: TestPanelState }) {
  const version = agent.has_draft ? `draft v${agent.version_number}` : `published v${agent.version_number}`;
  const isTalking = isBusy(testPanel.call.state.phase) || (testPanel.spoken.runId !== null && !testPanel.spoken.isOver);
  const isRunning = testPanel.nodeId !== null;
  const box = useRef<HTMLDivElement>(null);
  // On a telephone the canvas stands above it: what is said and the controls come into sight as a try begins.
  useEffect(() => {
    if (isRunning) box.current?.parentElement?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }, [isRunning]);
  const choice = (
    <VoiceChips
      isBrowserVoice={testPanel.isBrowserVoice}
      onBrowserVoice={testPanel.setIsBrowserVoice}
      isDisabled={isTalking}
    />
  );
  return (
    <>
      <div ref={box} className={classes.benchTabs} data-tour="bench">
        <SegmentedControl
          size="xs"
          aria-label="Test mode"
          value={testPanel.mode}
          onChange={(mode) => testPanel.setMode(mode)}
          data={[
            { value: "talk", label: "Talk" },
            { value: "type", label: "Chat" },
            { value: "simulate", label: "Simulate" },
          ]}
        />
        <Text span fz="xs" c="dimmed">
          {version}
        </Text>
      </div>
      <Pane isShown={testPanel.mode === "talk"}>
        {testPanel.isBrowserVoice ? (
          <SpokenPanel chat={testPanel.spoken} agentId={agent.id} agentName={agent.name} choice={choice} />
        ) : (
          <TalkPanel agentId={agent.id} agentName={agent.name} call={testPanel.call} choice={choice} />
        )}
      </Pane>
      <Pane isShown={testPanel.mode === "type"}>
        <ChatPanel chat={testPanel.chat} agentId={agent.id} agentName={agent.name} steps={talkingSteps(agent)} />
      </Pane>
      <Pane isShown={testPanel.mode === "simulate"}>
        <SimulatePanel simulation={testPanel.simulation} agentId={agent.id} agentName={agent.name} />
      </Pane>
    </>
  );
}

/** The steps that talk, as the server has them. */
function talkingSteps(agent: Agent): { value: string; label: string }[] {
  return parse(agent.workflow_definition)
    .nodes.filter((node) => TALKING.has(node.type))
    .map((node) => ({ value: node.id, label: nodeName(node) }));
}

function Pane({ isShown, children }: { isShown: boolean; children: ReactNode }) {
  const [isThere, setIsThere] = useState(isShown);
  if (isShown && !isThere) setIsThere(true);
  // After the canvas, which is what one looks at first.
  const isDrawn = useDeferredValue(isThere, false);
  return (
    <div className={classes.pane} hidden={!isShown}>
      {isDrawn && children}
    </div>
  );
}
