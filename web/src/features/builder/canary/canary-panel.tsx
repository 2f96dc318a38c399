/** What is known about the canary: both versions side by side, the decision, and why. */

import { Badge, Button, Group, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import { formatCount, formatMilliseconds, formatMoney, formatTimeAgo } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { type Canary, type CanarySide, type Direction, useCanary } from "./api";
import { EndDialog } from "./end-dialog";
import { ShareDialog } from "./share-dialog";
import classes from "./canary.module.css";

const STATES: Record<string, string> = {
  running: "Canary",
  rolled_forward: "Rolled forward",
  rolled_back: "Rolled back",
};
type Evidence = NonNullable<Canary["evidence"]>;

const DOUBT = 20;

const percent = (rate: number | null) => (rate === null ? "–" : `${Math.round(100 * rate)}%`);
const seconds = (value: number | null) => (value === null ? "–" : `${Math.round(value)} s`);
const ROWS: [string, (side: CanarySide) => string][] = [
  ["Callers", (side) => formatCount(side.calls)],
  ["Success rate", (side) => percent(side.success_rate)],
  ["Failed calls", (side) => percent(side.failure_rate)],
  ["Complaints", (side) => percent(side.complaint_rate)],
  ["Median duration", (side) => seconds(side.median_seconds)],
  ["Median answer time", (side) => formatMilliseconds(side.median_answer_ms)],
  ["Median cost", (side) => (side.median_cost_cents === null ? "–" : formatMoney(side.median_cost_cents))],
];

export function CanaryPanel() {
  const { agent } = useEditorContext();
  const canary = useCanary(agent.id);
  if (!canary.data) return null;
  return <KnownCanary canary={canary.data} />;
}

function KnownCanary({ canary }: { canary: Canary }) {
  const { canEdit } = useEditorContext();
  const [direction, setDirection] = useState<Direction | null>(null);
  const [isChangingShare, setIsChangingShare] = useState(false);
  const isRunning = canary.state === "running";
  return (
    <Stack gap={8} className={classes.panel} role="region" aria-label="Canary">
      <Group justify="space-between" wrap="nowrap">
        <Group gap={8}>
          <Text fw={600}>v{canary.version_number}</Text>
          <Badge size="sm" variant="light" tt="none" color={canary.state === "rolled_back" ? "red" : undefined}>
            {STATES[canary.state] ?? canary.state}
          </Badge>
        </Group>
        <Text fz="xs" c="dimmed">
          {formatTimeAgo(canary.ended_at ?? canary.started_at)}
        </Text>
      </Group>
      <Text fz="sm">{canary.explanation ?? progress(canary)}</Text>
      {canary.evidence && hasEnded(canary.evidence) && <Sides canary={canary} evidence={canary.evidence} />}
      {isRunning && canEdit && (
        <Group gap={8}>
          <Button size="compact-sm" variant="default" onClick={() => setDirection("forward")}>
            Send all calls to it
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setIsChangingShare(true)}>
            Change share
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={() => setDirection("back")}>
            Go back to v{canary.old_version_number}
          </Button>
        </Group>
      )}
      {isChangingShare && <ShareDialog canary={canary} onClose={() => setIsChangingShare(false)} />}
      {direction !== null && <EndDialog canary={canary} direction={direction} onClose={() => setDirection(null)} />}
    </Stack>
  );
}

/** Of a canary that just began, a table would be empty. */
function hasEnded({ old, new: next }: Evidence): boolean {
  return old.calls + next.calls > 0;
}

function progress({ share, version_number: version, old_version_number: old, evidence }: Canary): string {
  const takes = `Version ${version} gets ${share}% of calls, and version ${old} gets the rest.`;
  if (!evidence || !hasEnded(evidence)) return `${takes} None of these calls has ended yet.`;
  const odds = evidence.odds["less_success"] ?? 1;
  if (odds >= DOUBT)
    return `${takes} Its success rate may be lower: chance alone would produce this 1 time in ${Math.round(odds)}.`;
  return `${takes} There are too few calls for a verdict.`;
}

function Sides({ canary, evidence }: { canary: Canary; evidence: Evidence }) {
  return (
    <Table fz="sm" verticalSpacing={4} horizontalSpacing={8}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Metric</Table.Th>
          <Table.Th scope="col">v{canary.old_version_number}</Table.Th>
          <Table.Th scope="col">v{canary.version_number}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {ROWS.map(([name, show]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name}</Table.Th>
            <Table.Td>{show(evidence.old)}</Table.Td>
            <Table.Td>{show(evidence.new)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
