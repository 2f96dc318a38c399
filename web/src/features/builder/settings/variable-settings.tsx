/** Values that every conversation of this agent begins with. */

import { ActionIcon, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Data } from "../../../graph/definition";
import { useEditorContext } from "../state/editor";

export function VariableSettings() {
  const { document, canEdit, change } = useEditorContext();
  const [name, setName] = useState("");
  const entries = Object.entries(document.variables);
  const set = (variables: Data, tag = "") => change((doc) => ({ ...doc, variables }), tag);
  const add = () => {
    set({ ...document.variables, [name.trim()]: "" });
    setName("");
  };
  return (
    <Stack gap={8}>
      <Text fz="sm" c="dimmed">
        Use a variable in text as {"{{ name }}"}. Values that come with a call override these.
      </Text>
      {entries.map(([key, value]) => (
        <Group key={key} gap={6} wrap="nowrap" align="flex-end">
          <TextInput
            label={key}
            size="sm"
            flex={1}
            disabled={!canEdit || typeof value === "object"}
            value={typeof value === "string" ? value : JSON.stringify(value)}
            onChange={(event) => set({ ...document.variables, [key]: event.currentTarget.value }, `variable ${key}`)}
          />
          {canEdit && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove ${key}`}
              onClick={() => set(Object.fromEntries(entries.filter(([other]) => other !== key)))}
            >
              <Trash2 size={15} />
            </ActionIcon>
          )}
        </Group>
      ))}
      {canEdit && (
        <Group gap={6} wrap="nowrap">
          <TextInput
            aria-label="New variable name"
            placeholder="company_name"
            size="sm"
            flex={1}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button
            size="sm"
            variant="default"
            leftSection={<Plus size={14} />}
            disabled={!/^[A-Za-z_]\w*$/.test(name.trim()) || name.trim() in document.variables}
            onClick={add}
          >
            Add
          </Button>
        </Group>
      )}
    </Stack>
  );
}
