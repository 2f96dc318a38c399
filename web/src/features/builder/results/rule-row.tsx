/** One rule of a result: a variable and its value, a step, a transition, or how the call ended. */

import { ActionIcon, Autocomplete, Group, NativeSelect, Select, TagsInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { endReasonLabel } from "../../../lib/runs/run-labels";
import { needsValues, type Rule } from "./analysis";

export interface RuleChoices {
  variables: string[];
  steps: { value: string; label: string }[];
  transitions: { value: string; label: string }[];
}

const CHECKS = [
  { value: "variable", label: "Variable" },
  { value: "node", label: "Step reached" },
  { value: "edge", label: "Transition taken" },
  { value: "end_reason", label: "Ended by" },
];
const OPERATORS = [
  { value: "is", label: "is" },
  { value: "is_not", label: "is not" },
  { value: "contains", label: "contains" },
  { value: "is_set", label: "is set" },
  { value: "is_not_set", label: "is not set" },
];
const ENDS = ["agent_ended", "caller_hung_up", "transferred", "idle", "not_understood", "max_duration"].map(
  (value) => ({
    value,
    label: endReasonLabel(value),
  }),
);

interface RuleRowProps {
  rule: Rule;
  choices: RuleChoices;
  onChange: (rule: Rule) => void;
  onRemove: () => void;
}

export function RuleRow({ rule, choices, onChange, onRemove }: RuleRowProps) {
  const isVariable = rule.check === "variable";
  const options = { node: choices.steps, edge: choices.transitions, end_reason: ENDS, variable: [] }[rule.check];
  return (
    <Group gap={6} role="group" aria-label={`Rule ${rule.name}`}>
      <NativeSelect
        size="sm"
        aria-label="What to look at"
        data={CHECKS}
        value={rule.check}
        onChange={(event) =>
          onChange({ check: event.currentTarget.value as Rule["check"], name: "", operator: "is", values: [] })
        }
        w={150}
      />
      {isVariable ? (
        <Autocomplete
          size="sm"
          aria-label="Variable"
          placeholder="is_confirmed"
          data={choices.variables}
          value={rule.name}
          onChange={(name) => onChange({ ...rule, name })}
          flex="1 1 130px"
        />
      ) : (
        <Select
          size="sm"
          aria-label={CHECKS.find((check) => check.value === rule.check)?.label ?? "Name"}
          placeholder="Choose one"
          searchable
          data={options}
          value={rule.name === "" ? null : rule.name}
          onChange={(name) => onChange({ ...rule, name: name ?? "" })}
          flex="1 1 130px"
        />
      )}
      <NativeSelect
        size="sm"
        aria-label="Comparison"
        data={isVariable ? OPERATORS : OPERATORS.slice(0, 2)}
        value={rule.operator}
        onChange={(event) => {
          const next = { ...rule, operator: event.currentTarget.value as Rule["operator"] };
          onChange(needsValues(next) ? next : { ...next, values: [] });
        }}
        w={104}
      />
      <ActionIcon variant="subtle" color="gray" size={36} aria-label={`Remove rule ${rule.name}`} onClick={onRemove}>
        <Trash2 size={15} />
      </ActionIcon>
      {needsValues(rule) && (
        <TagsInput
          size="sm"
          aria-label="Values"
          placeholder={rule.values.length === 0 ? "Type a value, press Enter; any one can match" : ""}
          maxTags={20}
          maxLength={200}
          acceptValueOnBlur
          value={rule.values}
          onChange={(values) => onChange({ ...rule, values })}
          flex="1 1 100%"
        />
      )}
    </Group>
  );
}
