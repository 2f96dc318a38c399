/** What the agent would not know of these contacts, and the columns that are probably meant for it. */

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { GivenVariable } from "../../../graph/variables";
import { unfilledVariables } from "./agent-variables";
import type { ContactFileSummary, ReadingChoices } from "./contacts-csv";

interface UnfilledVariablesProps {
  look: ContactFileSummary;
  choices: ReadingChoices;
  given: readonly GivenVariable[];
  onChoose: (choices: ReadingChoices) => void;
}

export function UnfilledVariables({ look, choices, given, onChoose }: UnfilledVariablesProps) {
  const unfilled = unfilledVariables(look.columns, given);
  if (unfilled.length === 0) return null;
  return (
    <Alert color="yellow" title="This agent uses variables that no column is named for" role="status">
      <Stack gap="xs">
        {unfilled.map(({ name, hasDefault, column }) => (
          <Group key={name} gap="sm">
            <Text fz="sm">
              <b>{name}</b>
              {hasDefault ? ": its default is used for every contact." : ": it is required."}
            </Text>
            {column !== null && (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => onChoose({ ...choices, columnNames: { ...choices.columnNames, [column]: name } })}
              >
                Use “{look.columns[column]}” for it
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </Alert>
  );
}
