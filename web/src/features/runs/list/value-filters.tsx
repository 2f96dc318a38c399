/** Conditions on what runs were given or learned: any number of them, all of which must hold. */

import { ActionIcon, Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { criterionOf, type ValueFilter, type Operator } from "./values";

const PLACES = [
  { value: "gathered", label: "Extracted" },
  { value: "context", label: "Input" },
];
const WAYS: { value: Operator; label: string }[] = [
  { value: "contains", label: "contains" },
  { value: "is", label: "is" },
  { value: "number", label: "is number" },
  { value: "date", label: "is date" },
  { value: "yes", label: "is true" },
  { value: "no", label: "is false" },
];

interface Draft extends ValueFilter {
  key: number;
}

interface ValueFiltersProps {
  values: readonly ValueFilter[];
  onChange: (values: ValueFilter[]) => void;
}

/** Looks when the typing pauses; what is not whole yet is not looked for. */
export function ValueFilters({ values, onChange }: ValueFiltersProps) {
  const [drafts, setDrafts] = useState<Draft[]>(() => values.map((value, key) => ({ ...value, key })));
  const tell = useDebouncedCallback(onChange, 350);
  const change = (next: Draft[]) => {
    setDrafts(next);
    tell(next.filter((draft) => criterionOf(draft) !== null).map(({ key: _, ...value }) => value));
  };
  const add = () =>
    setDrafts([
      ...drafts,
      { key: Math.max(-1, ...drafts.map((draft) => draft.key)) + 1, name: "gathered.", way: "contains" },
    ]);
  return (
    <Stack gap="xs">
      <Text fz="sm" fw={600}>
        Variables
      </Text>
      {drafts.map((draft) => (
        <Row
          key={draft.key}
          draft={draft}
          onChange={(changed) => change(drafts.map((one) => (one.key === draft.key ? changed : one)))}
          onRemove={() => change(drafts.filter((one) => one.key !== draft.key))}
        />
      ))}
      <Group justify="space-between" wrap="nowrap">
        <Text fz="xs" c="dimmed">
          Variables extracted during a run, or passed in at its start.
        </Text>
        <Button size="compact-sm" variant="default" leftSection={<Plus size={14} />} onClick={add} miw="max-content">
          Add a variable
        </Button>
      </Group>
    </Stack>
  );
}

function Row({ draft, onChange, onRemove }: { draft: Draft; onChange: (draft: Draft) => void; onRemove: () => void }) {
  const dot = draft.name.indexOf(".");
  const [place, name] = [draft.name.slice(0, dot), draft.name.slice(dot + 1)];
  const type = (field: "text" | "from" | "to") => ({
    value: draft[field] ?? "",
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...draft, [field]: event.currentTarget.value }),
  });
  const isRange = draft.way === "number" || draft.way === "date";
  return (
    <Group gap={6} wrap="wrap" role="group" aria-label={`Variable ${name}`}>
      <NativeSelect
        size="xs"
        aria-label="Variable kind"
        data={PLACES}
        value={place}
        onChange={(event) => onChange({ ...draft, name: `${event.currentTarget.value}.${name}` })}
        w={88}
      />
      <TextInput
        size="xs"
        aria-label="Variable name"
        placeholder="city"
        value={name}
        onChange={(event) => onChange({ ...draft, name: `${place}.${event.currentTarget.value.trim()}` })}
        flex="1 1 60px"
        miw={60}
      />
      <NativeSelect
        size="xs"
        aria-label="Comparison"
        data={WAYS}
        value={draft.way}
        onChange={(event) => onChange({ ...draft, way: event.currentTarget.value as Operator })}
        w={106}
      />
      <ActionIcon size="sm" variant="subtle" color="gray" aria-label={`Remove the filter ${name}`} onClick={onRemove}>
        <X size={15} />
      </ActionIcon>
      {(draft.way === "contains" || draft.way === "is") && (
        <TextInput
          size="xs"
          aria-label="Text"
          placeholder={draft.way === "is" ? "Paris, Oslo" : "Par"}
          {...type("text")}
          flex="1 1 100%"
        />
      )}
      {isRange && (
        <Group gap={6} wrap="nowrap" flex="1 1 100%">
          <TextInput
            size="xs"
            aria-label="At least"
            placeholder="at least"
            type={draft.way}
            {...type("from")}
            flex={1}
          />
          <Text fz="xs">to</Text>
          <TextInput size="xs" aria-label="At most" placeholder="at most" type={draft.way} {...type("to")} flex={1} />
        </Group>
      )}
    </Group>
  );
}
