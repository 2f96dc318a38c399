/** Everything that a conversation reported, for those who look into it. */

import { Anchor, Collapse } from "@mantine/core";
import { useState } from "react";
import { Panel } from "../../../components/layout/panel";
import { inPageWords } from "../../../graph/readable";
import { humanize } from "../../../lib/format/format";
import type { RunDetail } from "../../../lib/api/types";
import { describeEarlyAnswer } from "./early-answers";
import { describePause } from "./pause-judgments";
import classes from "../runs.module.css";

export function EventsPanel({ events }: { events: RunDetail["events"] }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Panel
      title={`Events (${events.length})`}
      right={
        <Anchor component="button" type="button" fz="sm" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"}
        </Anchor>
      }
    >
      <Collapse expanded={isOpen}>
        <ol className={classes.events}>
          {events.map((event) => (
            <li key={event.seq}>
              <time>{(event.at_ms / 1000).toFixed(2)} s</time>
              <b>{inPageWords(humanize(event.type))}</b>
              {event.type in DESCRIBED ? (
                <span>{DESCRIBED[event.type]?.(event.data)}</span>
              ) : (
                <code>{summary(event.data)}</code>
              )}
            </li>
          ))}
        </ol>
      </Collapse>
    </Panel>
  );
}

const DESCRIBED: Record<string, (data: Record<string, unknown>) => string> = {
  early_answer: describeEarlyAnswer,
  pause_judged: describePause,
};

function summary(data: Record<string, unknown>): string {
  return Object.entries(data)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("  ");
}
