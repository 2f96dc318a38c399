/** Fields that name something of the organization: a tool, a document, a recording, a credential. */

import { MultiSelect, Select, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { messageOf } from "../../../lib/api/errors";
import { type Choice, useCredentials, useRecordings, useTools } from "./choices-api";
import { type InnerProps, words } from "./fields";

export function ToolField(props: InnerProps) {
  return <ManyChoice {...props} choices={useTools()} nothing="No tools yet" />;
}

export function RecordingField(props: InnerProps) {
  return <One {...props} choices={useRecordings()} nothing="No recordings yet" />;
}

export function CredentialField(props: InnerProps) {
  return <One {...props} choices={useCredentials()} nothing="No credentials yet" />;
}

interface ChoiceProps extends InnerProps {
  choices: UseQueryResult<Choice[]>;
  nothing: string;
}

export function ManyChoice({ value, onChange, common, choices, nothing }: ChoiceProps) {
  const chosen = words(value);
  return (
    <MultiSelect
      {...common}
      error={common.error ?? failure(choices)}
      data={withMissing(choices.data, chosen)}
      value={chosen}
      searchable
      clearable
      placeholder={chosen.length === 0 ? (choices.data?.length === 0 ? nothing : "Select") : undefined}
      nothingFoundMessage={nothing}
      renderOption={({ option }) => (
        <Option choice={choices.data?.find((choice) => choice.value === option.value)} name={option.label} />
      )}
      onChange={(next) => onChange(next.length === 0 ? undefined : next)}
    />
  );
}

function One({ value, onChange, common, choices, nothing }: ChoiceProps) {
  const chosen = typeof value === "string" && value !== "" ? value : null;
  return (
    <Select
      {...common}
      error={common.error ?? failure(choices)}
      data={withMissing(choices.data, chosen === null ? [] : [chosen])}
      value={chosen}
      searchable
      clearable
      placeholder={choices.data?.length === 0 ? nothing : "Select"}
      nothingFoundMessage={nothing}
      renderOption={({ option }) => (
        <Option choice={choices.data?.find((choice) => choice.value === option.value)} name={option.label} />
      )}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

function Option({ choice, name }: { choice: Choice | undefined; name: string }) {
  return (
    <div>
      {name}
      {choice?.hint !== undefined && (
        <Text fz="xs" c="dimmed" lineClamp={1}>
          {choice.hint}
        </Text>
      )}
    </div>
  );
}

/** What is named and is not there any more keeps its place, so that it can be seen and removed. */
function withMissing(choices: Choice[] | undefined, chosen: string[]): { value: string; label: string }[] {
  const known = (choices ?? []).map(({ value, label }) => ({ value, label }));
  const gone = chosen.filter((value) => !known.some((choice) => choice.value === value));
  return [
    ...known,
    ...gone.map((value) => ({ value, label: choices === undefined ? "…" : `${value.slice(0, 8)} (missing)` })),
  ];
}

function failure(choices: UseQueryResult<Choice[]>): string | undefined {
  return choices.isError ? messageOf(choices.error) : undefined;
}
