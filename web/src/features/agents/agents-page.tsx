/** All agents of the organization. */

import { Badge, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Problem } from "../../components/feedback/problem";
import { usePermissions } from "../../lib/organization/organization-context";
import { formatTimeAgo } from "../../lib/format/format";
import type { AgentItem } from "../../lib/api/types";
import { useAgents } from "./api";
import classes from "./agents-page.module.css";
import { GetStarted } from "./get-started";
import { NewAgent } from "./new-agent";

/** `isCreatingFirst`: a link asks for a new agent. */
export function AgentsPage({ isCreatingFirst }: { isCreatingFirst: boolean }) {
  const agents = useAgents();
  const { write: canWrite } = usePermissions();
  const [isCreating, setIsCreating] = useState(isCreatingFirst);
  const count = agents.data?.length ?? 0;
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={1} fz="xl">
            Agents
          </Title>
          <Text c="dimmed" mt={4}>
            Open an agent to talk to it in your browser.
          </Text>
        </div>
        {canWrite && count > 0 && <Button onClick={() => setIsCreating(true)}>New agent</Button>}
      </Group>
      {agents.isPending && <Loading />}
      {agents.isError && (
        <Problem title="The agents could not be loaded" error={agents.error} onRetry={() => void agents.refetch()} />
      )}
      {agents.data && count === 0 && <Empty onCreate={canWrite ? () => setIsCreating(true) : undefined} />}
      {agents.data && canWrite && <GetStarted agents={agents.data} onCreate={() => setIsCreating(true)} />}
      {count > 0 && (
        <ul className={classes.grid}>
          {agents.data?.map((agent) => (
            <AgentCard key={agent.id} agent={agent} />
          ))}
        </ul>
      )}
      <NewAgent isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </Stack>
  );
}

function AgentCard({ agent }: { agent: AgentItem }) {
  const runs = agent.total_runs === 1 ? "1 run" : `${agent.total_runs} runs`;
  return (
    <li>
      <Link to="/agents/$agentId" params={{ agentId: agent.id }} className={classes.card}>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Text component="h2" fw={600} fz="md" lh={1.3} m={0}>
            {agent.name}
          </Text>
          <Status agent={agent} />
        </Group>
        <Group mt="auto" pt="xl" justify="space-between" wrap="nowrap">
          <Text fz="sm" c="dimmed">
            {runs} · created {formatTimeAgo(agent.created_at)}
          </Text>
          <span className={classes.go} aria-hidden="true">
            Open →
          </span>
        </Group>
      </Link>
    </li>
  );
}

function Status({ agent }: { agent: AgentItem }) {
  if (agent.status === "archived")
    return (
      <Badge color="gray" variant="light" tt="none" miw="max-content">
        Archived
      </Badge>
    );
  return (
    <Group gap={6} wrap="nowrap">
      {agent.has_draft && (
        <Badge color="orange" c="var(--draft)" variant="light" tt="none" miw="max-content">
          Draft
        </Badge>
      )}
      {agent.published_version_number != null && (
        <Badge variant="light" tt="none" miw="max-content">
          Published v{agent.published_version_number}
        </Badge>
      )}
    </Group>
  );
}

function Loading() {
  return (
    <ul className={classes.grid} aria-busy="true" aria-label="Loading agents">
      {[1, 2, 3].map((key) => (
        <li key={key}>
          <Skeleton h={132} radius={14} />
        </li>
      ))}
    </ul>
  );
}

function Empty({ onCreate }: { onCreate: (() => void) | undefined }) {
  return (
    <div className={classes.empty}>
      <Title order={2} fz="lg">
        No agents yet
      </Title>
      <Text c="dimmed" maw={440} ta="center">
        An agent is a graph of steps: it greets callers, listens, and decides what happens next. Create a simple one and
        talk to it right away.
      </Text>
      {onCreate && (
        <Button size="md" mt="sm" onClick={onCreate}>
          New agent
        </Button>
      )}
    </div>
  );
}
