/** Where a run stands: what is above it, and the runs before and after it. */

import { ActionIcon, Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";

interface NeighborProps {
  agentId: number;
  runId: number | null;
  name: string;
  icon: LucideIcon;
}

/** The run of the same agent before or after this one. */
export function Neighbor({ agentId, runId, name, icon: Icon }: NeighborProps) {
  if (runId === null) {
    return (
      <ActionIcon size={36} variant="default" disabled aria-label={name}>
        <Icon size={17} />
      </ActionIcon>
    );
  }
  return (
    <ActionIcon
      size={36}
      variant="default"
      aria-label={name}
      renderRoot={(props) => <Link to="/agents/$agentId/runs/$runId" params={{ agentId, runId }} {...props} />}
    >
      <Icon size={17} />
    </ActionIcon>
  );
}

export function Trail({ agentId, agentName }: { agentId: number; agentName: string }) {
  return (
    <nav aria-label="Breadcrumb">
      <Group gap={8}>
        <Anchor fz="sm" c="dimmed" renderRoot={(props) => <Link to="/runs" {...props} />}>
          Runs
        </Anchor>
        <Text span fz="sm" c="dimmed" aria-hidden="true">
          /
        </Text>
        <Anchor
          fz="sm"
          c="dimmed"
          renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId }} {...props} />}
        >
          {agentName}
        </Anchor>
      </Group>
    </nav>
  );
}
