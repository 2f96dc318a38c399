/** Everything that a conversation reported, for those who look into it. */

import { Anchor, Collapse, Text, TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { useState } from "react";
import { Panel } from "../../../components/layout/panel";
import { inPageWords } from "../../../graph/readable";
import { humanize } from "../../../lib/format/format";
import type { RunDetail } from "../../../lib/api/types";
import { describeEarlyAnswer } from "./early-answers";
import { describePause } from "./pause-judgments";
import classes from "../runs.module.css";

interface EventsPanelProps {
  events: RunDetail["events"];
  /** Plays the recording from this time; null without a recording. */
  onSeek: ((seconds: number) => void) | null;
}

export function EventsPanel({ events, onSeek }: EventsPanelProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [query, setQuery] = useState("");
  const shown = matching(events, query);
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
        <TextInput
          className={classes.eventFilter}
          size="xs"
          aria-label="Filter events"
          placeholder="Event name or detail, such as “tool”"
          leftSection={<Search size={14} />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
        {shown.length === 0 && (
          <Text fz="sm" c="dimmed" p="12px 18px">
            No matching events.
          </Text>
        )}
        <ol className={classes.events}>
          {shown.map((event) => (
            <li key={event.seq}>
              <Moment atMs={event.at_ms} onSeek={onSeek} />
              <b>{nameOf(event)}</b>
              <Details event={event} />
            </li>
          ))}
        </ol>
      </Collapse>
    </Panel>
  );
}

type Event = RunDetail["events"][number];

/** Returns the events that have all of these words in their name or details. */
function matching(events: readonly Event[], query: string): readonly Event[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return events;
  return events.filter((event) => {
    const text = `${nameOf(event)} ${event.type} ${summary(event.data)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function nameOf(event: Event): string {
  return inPageWords(humanize(event.type));
}

function Moment({ atMs, onSeek }: { atMs: number; onSeek: EventsPanelProps["onSeek"] }) {
  const time = <time>{(atMs / 1000).toFixed(2)} s</time>;
  if (onSeek === null) return time;
  return (
    <Anchor
      component="button"
      type="button"
      fz="xs"
      ta="right"
      title="Play from here"
      onClick={() => onSeek(atMs / 1000)}
    >
      {time}
    </Anchor>
  );
}

function Details({ event }: { event: Event }) {
  const described = DESCRIBED[event.type];
  if (described !== undefined) return <span>{described(event.data)}</span>;
  return <code>{summary(event.data)}</code>;
}

const DESCRIBED: Record<string, (data: Record<string, unknown>) => string> = {
  early_answer: describeEarlyAnswer,
  pause_judged: describePause,
};

function summary(data: Record<string, unknown>): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}
