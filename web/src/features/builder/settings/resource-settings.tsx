/** The tools and documents of the organization, each with the steps of this agent that may use it. */

import { Button, Group, MultiSelect, Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Problem } from "../../../components/feedback/problem";
import { nodeName } from "../../../graph/definition";
import { DOCUMENTS, type Names, TOOLS, eligibleNodes, usersOf, withUsers } from "../../../graph/resources";
import { type Choice, useDocuments, useTools } from "../forms/choices-api";
import { useEditorContext } from "../state/editor";

export function ResourceSettings() {
  return (
    <>
      <Text fz="sm" c="dimmed">
        Choose which steps can use each tool and document. You can also do this in a step's form.
      </Text>
      <Resources title="Tools" names={TOOLS} choices={useTools()}>
        No tools yet.{" "}
        <Link to="/settings/$section" params={{ section: "tools" }}>
          Add one in Settings.
        </Link>
      </Resources>
      <Resources title="Documents" names={DOCUMENTS} choices={useDocuments()}>
        No documents yet. <Link to="/knowledge">Add one in Knowledge.</Link>
      </Resources>
    </>
  );
}

interface ResourcesProps {
  title: string;
  names: Names;
  choices: UseQueryResult<Choice[]>;
  /** Said where there are none. */
  children: React.ReactNode;
}

function Resources({ title, names, choices, children }: ResourcesProps) {
  return (
    <Stack gap={8}>
      <Text fw={600} fz="sm">
        {title}
      </Text>
      {choices.isPending && <Skeleton h={60} />}
      {choices.isError && <Problem error={choices.error} onRetry={() => void choices.refetch()} />}
      {choices.data?.length === 0 && (
        <Text fz="sm" c="dimmed">
          {children}
        </Text>
      )}
      {choices.data?.map((choice) => (
        <Resource key={choice.value} choice={choice} names={names} />
      ))}
    </Stack>
  );
}

function Resource({ choice, names }: { choice: Choice; names: Names }) {
  const { document, specs, canEdit, change } = useEditorContext();
  const nodes = eligibleNodes(document.definition, specs, names);
  const users = usersOf(nodes, names, choice.value);
  const set = (next: readonly string[]) =>
    change((doc) => ({
      ...doc,
      definition: withUsers(doc.definition, eligibleNodes(doc.definition, specs, names), names, choice.value, next),
    }));
  return (
    <Group gap={6} wrap="nowrap" align="flex-end">
      <MultiSelect
        flex={1}
        miw={0}
        size="sm"
        label={choice.label}
        description={choice.hint}
        disabled={!canEdit}
        searchable
        hidePickedOptions
        placeholder={users.length === 0 ? "Not used by any step" : undefined}
        nothingFoundMessage="No matching steps"
        data={nodes.map((node) => ({ value: node.id, label: nodeName(node) }))}
        value={users}
        onChange={set}
      />
      {canEdit && (
        <Button
          size="sm"
          px={10}
          variant="default"
          disabled={users.length === nodes.length}
          aria-label={`Allow all steps to use ${choice.label}`}
          onClick={() => set(nodes.map((node) => node.id))}
        >
          All
        </Button>
      )}
    </Group>
  );
}
