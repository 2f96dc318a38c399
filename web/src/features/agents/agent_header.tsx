/** An agent's name and state, and the button that makes its draft the version that answers calls. */

import { Alert, Anchor, Badge, Button, Collapse, Group, List, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Problem } from "../../components/problem";
import { ApiError, type WorkflowProblem } from "../../lib/errors";
import type { Agent } from "../../lib/types";
import { usePublish, useValidation } from "./api";
import { nodesOf } from "./graph";

export function AgentHeader({ agent }: { agent: Agent }) {
  const validation = useValidation(agent.id);
  const publish = usePublish(agent.id);
  const errors = validation.data?.errors ?? [];
  const warnings = validation.data?.warnings ?? [];
  const isPublishError = publish.isError && !(publish.error instanceof ApiError && publish.error.problems.length > 0);
  return (
    <Stack gap="md">
      <div>
        <Anchor fz="sm" c="dimmed" renderRoot={(props) => <Link to="/" {...props} />}>
          ← Agents
        </Anchor>
        <Group justify="space-between" mt={6}>
          <Group gap="sm">
            <Title order={1} fz={26}>
              {agent.name}
            </Title>
            <Badges agent={agent} />
          </Group>
          {agent.has_draft && (
            <Button onClick={() => publish.mutate()} loading={publish.isPending} disabled={errors.length > 0}>
              Publish draft
            </Button>
          )}
        </Group>
      </div>
      {isPublishError && <Problem title="It was not published" error={publish.error} />}
      <Problems agent={agent} title="cannot be published yet" color="red" problems={errors} isOpenAtFirst />
      <Problems agent={agent} title="" color="yellow" problems={warnings} isOpenAtFirst={false} />
    </Stack>
  );
}

function Badges({ agent }: { agent: Agent }) {
  return (
    <Group gap={6}>
      {agent.status === "archived" && <Badge color="gray" variant="light" tt="none">Archived</Badge>}
      {agent.published_version_number != null && (
        <Badge variant="light" tt="none">Published v{agent.published_version_number}</Badge>
      )}
      {agent.has_draft && <Badge color="orange" variant="light" tt="none">Draft v{agent.version_number}</Badge>}
    </Group>
  );
}

interface ProblemsProps {
  agent: Agent;
  title: string;
  color: "red" | "yellow";
  problems: WorkflowProblem[];
  isOpenAtFirst: boolean;
}

function Problems({ agent, title, color, problems, isOpenAtFirst }: ProblemsProps) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  if (problems.length === 0) return null;
  const noun = color === "red" ? "problem" : "hint";
  const count = `${problems.length} ${noun}${problems.length === 1 ? "" : "s"}`;
  const heading = title === "" ? `${count} about this agent` : `This agent ${title}: ${count}`;
  const names = new Map(nodesOf(agent.workflow_definition).map((node) => [node.id, node.name]));
  return (
    <Alert color={color} variant="light" py="xs">
      <Group justify="space-between">
        <Text fz="sm" fw={600}>
          {heading}
        </Text>
        <Anchor component="button" type="button" fz="sm" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"}
        </Anchor>
      </Group>
      <Collapse expanded={isOpen}>
        <List fz="sm" mt="xs" spacing={2}>
          {problems.map((problem) => (
            <List.Item key={`${problem.id}.${problem.field}.${problem.message}`}>
              {problem.id !== null && <b>{names.get(problem.id) ?? `${problem.kind} ${problem.id}`}: </b>}
              {problem.message}
            </List.Item>
          ))}
        </List>
      </Collapse>
    </Alert>
  );
}
