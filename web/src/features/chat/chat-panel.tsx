/** The same agent in writing: no microphone, no voice, the same graph. */

import { Button, Group, Select, Text, TextInput } from "@mantine/core";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { Problem } from "../../components/feedback/problem";
import { ToolCalls } from "../../components/runs/tool-calls";
import { formatValue, humanize } from "../../lib/format/format";
import { ChatLog } from "./chat-log";
import classes from "./chat-panel.module.css";
import { RunLink } from "./run-link";
import type { ShownTurn } from "./turns";
import type { Chat } from "./use-chat";

interface ChatPanelProps {
  chat: Chat;
  agentId: number;
  agentName: string;
  /** Where a chat can begin. */
  steps: { value: string; label: string }[];
}

export function ChatPanel({ chat, agentId, agentName, steps }: ChatPanelProps) {
  const [stepId, setStepId] = useState<string | null>(null);
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const again = useRef<HTMLButtonElement>(null);
  const stage = chat.runId === null ? "off" : chat.isOver ? "over" : "on";
  const before = useRef(stage);
  // The button that began or ended it is gone: the keyboard goes on where one does.
  useEffect(() => {
    if (before.current !== stage && document.activeElement === document.body) (again.current ?? input.current)?.focus();
    before.current = stage;
  }, [stage]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const words = text.trim();
    if (words === "" || chat.isBusy) return;
    setText("");
    chat.say(words, () => setText(words));
  };
  const edit = (turn: ShownTurn) => {
    if (turn.before === undefined) return;
    void chat.rewind(turn.before).then(
      () => {
        setText(turn.caller ?? "");
        input.current?.focus();
      },
      () => undefined,
    );
  };

  const { runId } = chat;
  if (runId === null) {
    return (
      <div className={classes.stage}>
        <Text c="dimmed" ta="center" maw={320}>
          Chat with {agentName}. Same steps, no microphone.
        </Text>
        {steps.length > 1 && (
          <Select
            label="Start at"
            placeholder="The first step"
            clearable
            searchable
            w={260}
            data={steps}
            value={stepId}
            onChange={setStepId}
          />
        )}
        {chat.error !== null && <Problem error={chat.error} />}
        <Button variant="light" onClick={() => chat.start(stepId)} loading={chat.isStarting}>
          Start chat
        </Button>
      </div>
    );
  }
  return (
    <div className={classes.chat}>
      <ChatLog chat={chat} agentName={agentName} onEdit={edit} />
      {chat.error !== null && (
        <div className={classes.problem}>
          <Problem error={chat.error} />
        </div>
      )}
      <ToolCalls calls={chat.tools} />
      <Variables values={chat.variables} />
      {chat.isOver ? (
        <div className={classes.foot}>
          <Text fz="sm" c="dimmed" role="status">
            The chat has ended.
          </Text>
          <Group gap={8} wrap="nowrap">
            <RunLink agentId={agentId} runId={runId} words="Details" />
            <Button ref={again} variant="light" onClick={() => chat.start(stepId)} loading={chat.isStarting}>
              Start over
            </Button>
          </Group>
        </div>
      ) : (
        <form className={classes.foot} onSubmit={submit}>
          <TextInput
            ref={input}
            className={classes.input}
            aria-label="Message"
            placeholder={chat.pending !== null ? "The agent is responding…" : "Type a message"}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" loading={chat.pending !== null} disabled={text.trim() === ""}>
            Send
          </Button>
          <Button variant="default" onClick={chat.end}>
            End
          </Button>
        </form>
      )}
    </div>
  );
}

/** What the agent has found out so far. */
function Variables({ values }: { values: Record<string, unknown> }) {
  const known = Object.entries(values).filter(
    ([, value]) => value !== null && value !== "" && typeof value !== "object",
  );
  if (known.length === 0) return null;
  return (
    <dl className={classes.variables} aria-label="Variables">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{humanize(name)}</dt>
          <dd>{formatValue(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
