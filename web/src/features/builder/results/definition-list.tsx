/** The results or the success criteria of an agent: a line for each, in the order that counts. */

import { ActionIcon, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { ArrowUp, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { edgeLabel, nodeName } from "../../../graph/definition";
import { knownVariables } from "../../../graph/variables";
import { useEditorContext } from "../state/editor";
import { type AnalysisList, type CallDefinition, describeRules, MAX_ENTRIES, type Rule } from "./analysis";
import { DefinitionDialog } from "./definition-dialog";
import type { RuleChoices } from "./rule-row";

interface DefinitionListProps {
  kind: AnalysisList;
  title: string;
  about: string;
  add: string;
  definitions: CallDefinition[];
  onChange: (definitions: CallDefinition[]) => void;
}

export function DefinitionList({ kind, title, about, add, definitions, onChange }: DefinitionListProps) {
  const { canEdit } = useEditorContext();
  const choices = useRuleChoices();
  /** The index of the open one; as long as the list for a new one. */
  const [open, setOpen] = useState<number | null>(null);
  const without = (index: number) => definitions.filter((_, other) => other !== index);
  const save = (definition: CallDefinition, at: number) => {
    onChange([...definitions.slice(0, at), definition, ...definitions.slice(at + 1)]);
    setOpen(null);
  };
  const moveUp = (definition: CallDefinition, at: number) => {
    const rest = without(at);
    onChange([...rest.slice(0, at - 1), definition, ...rest.slice(at - 1)]);
  };
  return (
    <Stack gap={8} role="group" aria-label={title}>
      <div>
        <Text fw={600} fz="sm">
          {title}
        </Text>
        <Text fz="sm" c="dimmed">
          {about}
        </Text>
      </div>
      {definitions.map((definition, index) => (
        <Group key={definition.name} gap={4} wrap="nowrap" align="flex-start">
          <div style={{ flex: 1, minWidth: 0 }}>
            <Group gap={8}>
              <Text fz="sm">{definition.name}</Text>
              {definition.is_success !== null && (
                <Badge size="sm" color={definition.is_success ? "brand" : "red"}>
                  {definition.is_success ? "Success" : "Failure"}
                </Badge>
              )}
            </Group>
            <Text fz="xs" c="dimmed">
              {describeRules(definition, (rule) => nameOf(rule, choices))}
            </Text>
          </div>
          {canEdit && (
            <Group gap={0} wrap="nowrap">
              <ActionIcon
                variant="subtle"
                color="gray"
                disabled={index === 0}
                aria-label={`Move ${definition.name} up`}
                onClick={() => moveUp(definition, index)}
              >
                <ArrowUp size={15} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Edit ${definition.name}`}
                onClick={() => setOpen(index)}
              >
                <Pencil size={15} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove ${definition.name}`}
                onClick={() => onChange(without(index))}
              >
                <Trash2 size={15} />
              </ActionIcon>
            </Group>
          )}
        </Group>
      ))}
      {canEdit && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Plus size={14} />}
          disabled={definitions.length >= MAX_ENTRIES[kind]}
          onClick={() => setOpen(definitions.length)}
          w="max-content"
        >
          {add}
        </Button>
      )}
      {open !== null && (
        <DefinitionDialog
          kind={kind}
          definition={definitions[open] ?? null}
          others={without(open)}
          choices={choices}
          onSave={(definition) => save(definition, open)}
          onClose={() => setOpen(null)}
        />
      )}
    </Stack>
  );
}

function useRuleChoices(): RuleChoices {
  const { document } = useEditorContext();
  const { nodes, edges } = document.definition;
  const names = new Map(nodes.map((node) => [node.id, nodeName(node)]));
  return {
    variables: knownVariables(document.definition, document.variables),
    steps: [...names].map(([value, label]) => ({ value, label })),
    transitions: edges.map((edge) => ({
      value: edge.id,
      label: `${names.get(edge.source) ?? edge.source} → ${edgeLabel(edge) || (names.get(edge.target) ?? edge.target)}`,
    })),
  };
}

function nameOf(rule: Rule, { steps, transitions }: RuleChoices): string {
  const known = rule.check === "node" ? steps : rule.check === "edge" ? transitions : [];
  return known.find((one) => one.value === rule.name)?.label ?? rule.name;
}
