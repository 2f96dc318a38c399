/** The chat to read, with a way back to any message. */

import { ActionIcon, Button, Text, Tooltip } from "@mantine/core";
import { Pencil } from "lucide-react";
import { useEffect, useRef } from "react";
import { useFollowEnd } from "../../lib/focus/follow-end";
import classes from "./chat-panel.module.css";
import type { ShownTurn } from "./turns";
import type { Chat } from "./use-chat";

interface ChatLogProps {
  chat: Chat;
  agentName: string;
  /** Says something else in place of this turn's message. */
  onEdit: ((turn: ShownTurn) => void) | undefined;
}

export function ChatLog({ chat, agentName, onEdit }: ChatLogProps) {
  const box = useRef<HTMLDivElement>(null);
  const watch = useFollowEnd(box, null, true);
  // Whoever writes looks at what was written, wherever they have scrolled to.
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [chat.turns, chat.pending]);
  const behind = chat.turns.filter((turn) => turn.isBehind);
  return (
    <div
      ref={box}
      className={classes.log}
      role="log"
      aria-label="Transcript"
      aria-live="polite"
      tabIndex={0}
      onScroll={watch}
    >
      {chat.turns
        .filter((turn) => !turn.isBehind)
        .map((turn) => (
          <Turn
            key={turn.id}
            turn={turn}
            agentName={agentName}
            onEdit={chat.isOver || chat.isBusy ? undefined : onEdit}
          />
        ))}
      {behind.length > 0 && chat.pending === null && (
        <div className={classes.behind}>
          <Text fz="xs" c="dimmed">
            You went back. Your next message replaces everything after this point.
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            flex="none"
            onClick={() => void chat.rewind(null).catch(() => undefined)}
          >
            Undo
          </Button>
        </div>
      )}
      {chat.pending !== null && (
        <p className={classes.bubble} data-speaker="caller">
          {chat.pending}
        </p>
      )}
      {chat.pending !== null && (
        <p className={classes.thinking} aria-label="The agent is responding">
          <i />
          <i />
          <i />
        </p>
      )}
    </div>
  );
}

function Turn({
  turn,
  agentName,
  onEdit,
}: {
  turn: ShownTurn;
  agentName: string;
  onEdit: ((turn: ShownTurn) => void) | undefined;
}) {
  return (
    <>
      {turn.caller !== null && (
        <div className={classes.caller}>
          {onEdit !== undefined && turn.before !== undefined && (
            <Tooltip label="Go back and edit">
              <ActionIcon
                className={classes.edit}
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={`Go back and edit: ${turn.caller}`}
                onClick={() => onEdit(turn)}
              >
                <Pencil size={13} />
              </ActionIcon>
            </Tooltip>
          )}
          <p className={classes.bubble} data-speaker="caller">
            {turn.caller}
          </p>
        </div>
      )}
      {turn.agent.map((text, index) => (
        <p key={index} className={classes.bubble} data-speaker="agent" title={agentName}>
          {text}
        </p>
      ))}
    </>
  );
}
