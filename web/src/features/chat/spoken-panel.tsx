/** Talk with an agent in the voices of this browser: the same steps as a call, with text between the browser and the engine. */

import { Button, Text } from "@mantine/core";
import { type ReactNode } from "react";
import { Problem } from "../../components/feedback/problem";
import { ToolCalls } from "../../components/runs/tool-calls";
import { ChatLog } from "./chat-log";
import classes from "./chat-panel.module.css";
import { RunLink } from "./run-link";
import { canHear } from "./speech-ports";
import type { SpokenState } from "./spoken";
import type { Chat } from "./use-chat";
import { useHasVoices } from "./use-has-voices";
import { useSpoken } from "./use-spoken";

const DEAF: Record<string, string> = {
  missing: "This browser has no speech recognition. Use Chrome, Edge, or Safari, or chat instead.",
  "not-allowed": "The microphone is blocked for this page. Allow it in the address bar, or chat instead.",
  "service-not-allowed": "This browser does not allow speech recognition here. Chat instead.",
  "audio-capture": "No microphone was found. Connect one, or chat instead.",
  network: "The browser's speech recognition needs an internet connection. Chat instead.",
  "language-not-supported": "The browser's speech recognition does not support your language. Chat instead.",
};

interface SpokenPanelProps {
  chat: Chat;
  agentId: number;
  agentName: string;
  /** Above the button that begins the talk. */
  choice: ReactNode;
}

export function SpokenPanel({ chat, agentId, agentName, choice }: SpokenPanelProps) {
  const spoken = useSpoken(chat);
  const hasVoices = useHasVoices();
  const isRunning = chat.runId !== null && !chat.isOver;
  if (chat.runId === null || (spoken.state.name === "off" && !isRunning)) {
    return (
      <div className={classes.stage}>
        <Text fw={600} fz="xl" ta="center">
          {chat.isOver ? "The call has ended" : `Talk to ${agentName}`}
        </Text>
        <Text c="dimmed" ta="center" maw={330}>
          Uses this browser's voices. Wait until the agent finishes, or interrupt it with the button.
        </Text>
        {!canHear() && (
          <Text c="var(--warn)" fz="sm" ta="center">
            {DEAF["missing"]}
          </Text>
        )}
        {!hasVoices && (
          <Text c="var(--warn)" fz="sm" ta="center">
            This browser has no voices, so responses are shown as text.
          </Text>
        )}
        {choice}
        {chat.error !== null && <Problem error={chat.error} />}
        <Button size="lg" radius="xl" px={36} onClick={() => spoken.start()} loading={chat.isStarting}>
          {chat.isOver ? "Talk again" : "Start talking"}
        </Button>
        {chat.isOver && chat.runId !== null && (
          <RunLink agentId={agentId} runId={chat.runId} words="Transcript and details" />
        )}
      </div>
    );
  }
  return (
    <div className={classes.chat}>
      <ChatLog chat={chat} agentName={agentName} onEdit={undefined} />
      {chat.error !== null && (
        <div className={classes.problem}>
          <Problem error={chat.error} />
        </div>
      )}
      <ToolCalls calls={chat.tools} />
      <div className={classes.foot}>
        <Text fz="sm" c="dimmed" role="status" flex={1} lineClamp={2}>
          {stateWords(spoken.state, agentName)}
        </Text>
        {spoken.state.name === "speaking" && (
          <Button variant="default" onClick={spoken.interrupt}>
            Interrupt
          </Button>
        )}
        <Button color="red" onClick={spoken.stop}>
          Hang up
        </Button>
      </div>
    </div>
  );
}

function stateWords(state: SpokenState, agentName: string): string {
  switch (state.name) {
    case "speaking":
      return `${agentName} is speaking…`;
    case "hearing":
      return state.partial === "" ? "Your turn to speak." : `“${state.partial}”`;
    case "deaf":
      return DEAF[state.reason] ?? DEAF["missing"] ?? "";
    case "answering":
    case "off":
      return "One moment…";
  }
}
