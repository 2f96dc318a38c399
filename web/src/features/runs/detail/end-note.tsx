/** Why the run ended, and what to do about it. */

import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CircleAlert, PhoneOff } from "lucide-react";
import { formatDateTime } from "../../../lib/format/format";
import type { EndExplanation, NextAction } from "./end-explanation";
import classes from "./end-note.module.css";

interface EndNoteProps {
  end: EndExplanation;
  agentId: number;
  /** Null when there is nothing to hear. */
  onSeek: ((seconds: number) => void) | null;
}

export function EndNote({ end, agentId, onSeek }: EndNoteProps) {
  const Icon = end.isBad ? CircleAlert : PhoneOff;
  return (
    <section className={classes.note} data-bad={end.isBad || undefined} aria-label="Why it ended">
      <Icon size={18} aria-hidden="true" />
      <p>{end.sentence}</p>
      <div className={classes.actions}>
        {end.actions.map((action) => (
          <Action key={action.label} action={action} agentId={agentId} onSeek={onSeek} />
        ))}
      </div>
    </section>
  );
}

function Action({ action, agentId, onSeek }: { action: NextAction } & Omit<EndNoteProps, "end">) {
  switch (action.kind) {
    case "hear":
      return onSeek === null ? null : (
        <Anchor component="button" type="button" fz="sm" onClick={() => onSeek(action.seconds)}>
          {action.label}
        </Anchor>
      );
    case "step":
      return (
        <Anchor
          fz="sm"
          renderRoot={(props) => (
            <Link to="/agents/$agentId" params={{ agentId }} search={{ step: action.nodeId }} {...props} />
          )}
        >
          {action.label}
        </Anchor>
      );
    case "agent":
      return (
        <Anchor fz="sm" renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId }} {...props} />}>
          {action.label}
        </Anchor>
      );
    case "models":
      return (
        <Anchor
          fz="sm"
          renderRoot={(props) => <Link to="/settings/$section" params={{ section: "models" }} {...props} />}
        >
          {action.label}
        </Anchor>
      );
    case "phone":
      return (
        <Anchor fz="sm" renderRoot={(props) => <Link to="/phone" {...props} />}>
          {action.label}
        </Anchor>
      );
  }
}

/** Of a text chat in progress: what it waits for, and when it ends by itself. */
export function WaitNote({ until }: { until: string | null }) {
  if (until === null) return null;
  return (
    <Text c="dimmed">Waiting for the next message. If none arrives, the chat ends at {formatDateTime(until)}.</Text>
  );
}
