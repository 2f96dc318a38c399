/** The form of one result or one success criterion. */

import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { Plus } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import {
  type AnalysisList,
  type CallDefinition,
  MAX_NAME,
  MAX_RULES,
  NEW_DEFINITION,
  NO_RULE,
  problemOf,
  type Rule,
} from "./analysis";
import { type RuleChoices, RuleRow } from "./rule-row";

const SUCCESS = [
  { value: "yes", label: "Success" },
  { value: "no", label: "Failure" },
  { value: "", label: "Neither" },
];
const MATCHES = [
  { value: "all", label: "All must match" },
  { value: "any", label: "Any can match" },
];
const WORDS = {
  results: { noun: "result", name: "Booked", description: "The caller agreed to a day and a time." },
  criteria: { noun: "criterion", name: "Asked for the name", description: "The agent asked for the caller's name." },
};

interface DefinitionDialogProps {
  kind: AnalysisList;
  /** Null for a new one. */
  definition: CallDefinition | null;
  others: readonly CallDefinition[];
  choices: RuleChoices;
  onSave: (definition: CallDefinition) => void;
  onClose: () => void;
}

export function DefinitionDialog({ kind, definition, others, choices, onSave, onClose }: DefinitionDialogProps) {
  const [draft, setDraft] = useState(definition ?? NEW_DEFINITION);
  const [wasSent, setWasSent] = useState(false);
  const { noun, name, description } = WORDS[kind];
  const problem = problemOf(draft, others);
  const set = (part: Partial<CallDefinition>) => setDraft({ ...draft, ...part });
  return (
    <FormDialog
      title={`${definition === null ? "Add" : "Edit"} ${noun}`}
      isOpen
      onClose={onClose}
      onSubmit={() => (problem === null ? onSave(draft) : setWasSent(true))}
      submit="Save"
      isBusy={false}
      problem={wasSent ? problem : null}
      size="lg"
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        placeholder={name}
        maxLength={MAX_NAME[kind]}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {kind === "results" && (
        <Stack gap={4}>
          <Text fz="sm" fw={600}>
            Counts as
          </Text>
          <SegmentedControl
            aria-label="Counts as"
            data={SUCCESS}
            value={draft.is_success === null ? "" : draft.is_success ? "yes" : "no"}
            onChange={(value) => set({ is_success: value === "" ? null : value === "yes" })}
          />
        </Stack>
      )}
      <Rules draft={draft} choices={choices} onChange={set} />
      <Textarea
        label="Description"
        description="For the language model, when one is configured."
        placeholder={description}
        autosize
        minRows={2}
        maxLength={500}
        value={draft.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
    </FormDialog>
  );
}

interface RulesProps {
  draft: CallDefinition;
  choices: RuleChoices;
  onChange: (part: Partial<CallDefinition>) => void;
}

function Rules({ draft: { rules, match }, choices, onChange }: RulesProps) {
  const replace = (at: number, rule: Rule) =>
    onChange({ rules: rules.map((one, index) => (index === at ? rule : one)) });
  return (
    <Stack gap={8}>
      <Group justify="space-between">
        <Text fz="sm" fw={600}>
          Rules
        </Text>
        {rules.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="Rules to match"
            data={MATCHES}
            value={match}
            onChange={(value) => onChange({ match: value === "any" ? "any" : "all" })}
          />
        )}
      </Group>
      {rules.map((rule, index) => (
        <RuleRow
          key={index}
          rule={rule}
          choices={choices}
          onChange={(next) => replace(index, next)}
          onRemove={() => onChange({ rules: rules.filter((_, other) => other !== index) })}
        />
      ))}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Plus size={14} />}
        disabled={rules.length >= MAX_RULES}
        onClick={() => onChange({ rules: [...rules, NO_RULE] })}
        w="max-content"
      >
        Add rule
      </Button>
      {rules.length === 0 && (
        <Text fz="sm" c="dimmed">
          Without rules, the language model decides from the description. The built-in model cannot.
        </Text>
      )}
    </Stack>
  );
}
