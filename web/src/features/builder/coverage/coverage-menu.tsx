/** Chooses which coverage the canvas shows, and lists what was never taken; each entry leads to its place. */

import { Button, Popover, Radio, ScrollArea, Stack, Text, UnstyledButton } from "@mantine/core";
import { Keyboard, MessageSquare, MoveRight, Route, Square, Unplug, Wrench } from "lucide-react";
import { useState } from "react";
import { Loaded } from "../../../components/layout/page";
import { formatTimeAgo, pluralize } from "../../../lib/format/format";
import canvas from "../canvas/canvas.module.css";
import { useEditorContext } from "../state/editor";
import {
  type CoverageSource,
  type MissedPart,
  missedParts,
  scenarioRemarks,
  shareOf,
  whyNoCalls,
  whyNoScenarios,
} from "./coverage";
import classes from "./coverage.module.css";
import { useCoverageContext } from "./use-coverage";

const SOURCES: { value: CoverageSource; label: string }[] = [
  { value: "off", label: "Off" },
  { value: "scenarios", label: "Scenarios" },
  { value: "calls", label: "Calls of the last 30 days" },
];

const KINDS = {
  node: { Icon: Square, label: "Step" },
  edge: { Icon: MoveRight, label: "Transition" },
  words: { Icon: MessageSquare, label: "Words" },
  key: { Icon: Keyboard, label: "Key" },
  tool: { Icon: Wrench, label: "Tool" },
  failure: { Icon: Unplug, label: "Tool failure" },
} as const;

export function CoverageMenu() {
  const { source, choose } = useCoverageContext();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      position="top-start"
      width={340}
      trapFocus
      returnFocus
      shadow="md"
      radius="md"
    >
      <Popover.Target>
        <Button
          size="xs"
          h={36}
          variant={source === "off" ? "default" : "light"}
          leftSection={<Route size={15} />}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Coverage
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={12}>
        <Stack gap={10}>
          <Radio.Group label="Show coverage" value={source} onChange={(value) => choose(value)}>
            <Stack gap={8} mt={6}>
              {SOURCES.map(({ value, label }) => (
                <Radio key={value} size="xs" value={value} label={label} />
              ))}
            </Stack>
          </Radio.Group>
          {source === "off" && (
            <Text fz="sm" c="dimmed">
              Shows which steps and transitions your scenarios or calls covered, by speech or by key, and which tools
              were called or failed. Anything not covered is listed.
            </Text>
          )}
          {source === "scenarios" && <ScenarioSummary />}
          {source === "calls" && <CallSummary />}
          <Missed onGo={() => setIsOpen(false)} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function ScenarioSummary() {
  const { scenarios } = useCoverageContext();
  return (
    <Loaded query={scenarios} what="The coverage">
      {(found) => {
        const nothing = whyNoScenarios(found);
        if (nothing !== null) return <Text fz="sm">{nothing}</Text>;
        const remarks = scenarioRemarks(found);
        return (
          <div>
            <Text fz="sm">
              {pluralize(found.passed, "scenario")} covered {shareOf(found)}.
            </Text>
            <Text fz="xs" c="dimmed">
              {remarks !== "" && `${remarks} `}
              Last run {formatTimeAgo(found.last_played_at ?? "")}
              {found.version_status === "draft" && "; the draft could have changed since"}.
            </Text>
          </div>
        );
      }}
    </Loaded>
  );
}

function CallSummary() {
  const { calls } = useCoverageContext();
  return (
    <Loaded query={calls} what="The coverage">
      {(found) => {
        const nothing = whyNoCalls(found);
        if (nothing !== null) return <Text fz="sm">{nothing}</Text>;
        return (
          <div>
            <Text fz="sm">
              {found.has_more ? `The newest ${found.calls} telephone calls` : pluralize(found.calls, "telephone call")}{" "}
              covered {shareOf(found)}.
            </Text>
            <Text fz="xs" c="dimmed">
              Calls with any version count. New steps have no calls yet.
            </Text>
          </div>
        );
      }}
    </Loaded>
  );
}

function Missed({ onGo }: { onGo: () => void }) {
  const { marks } = useCoverageContext();
  const { document, reveal } = useEditorContext();
  if (marks === null) return null;
  const missed = missedParts(marks, document.definition);
  if (missed.length === 0) return <Text fz="sm">Everything in this graph was covered.</Text>;
  return (
    <div>
      <Text fz="sm" fw={600} id="never-taken">
        Not covered
      </Text>
      <ScrollArea.Autosize mah={220}>
        <ul className={classes.missed} aria-labelledby="never-taken">
          {missed.map(({ kind, id, title, nodeIds, edgeIds }) => (
            <li key={`${kind}:${id}`}>
              <UnstyledButton
                className={canvas.finding}
                onClick={() => {
                  reveal({ nodeIds, edgeIds }, "form");
                  onGo();
                }}
              >
                <KindOfPart kind={kind} />
                <span>{title}</span>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      </ScrollArea.Autosize>
    </div>
  );
}

function KindOfPart({ kind }: { kind: MissedPart["kind"] }) {
  const { Icon, label } = KINDS[kind];
  return <Icon size={14} role="img" aria-label={label} />;
}
