/** What a contact file holds, or what is wrong with it and what can be done about it without another file. */

import { Button, Group, Select, Table, Text } from "@mantine/core";
import { DataTable } from "../../../components/tables/data-table";
import { pluralize } from "../../../lib/format/format";
import type { Contacts } from "./contact-file-field";
import { type ContactFileSummary, needsPhoneColumn, type ReadingChoices } from "./contacts-csv";
import type { GivenVariable } from "../../../graph/variables";
import { RowProblems } from "./row-problems";
import { UnfilledVariables } from "./unfilled-variables";

interface ContactPreviewProps {
  contacts: Contacts;
  /** What the agent wants to know of each contact; undefined until that is known. */
  given: readonly GivenVariable[] | undefined;
  onChoose: (choices: ReadingChoices) => void;
}

export function ContactPreview({ contacts: { look, choices }, given = [], onChoose }: ContactPreviewProps) {
  return (
    <>
      {look.phoneChoices.length > 0 && (
        <Select
          label="Phone number column"
          description="Numbers need their country code, as in +12015550123."
          placeholder="Choose a column"
          allowDeselect={false}
          data={look.phoneChoices.map((name, index) => ({ value: String(index), label: name }))}
          value={look.phoneChoice === null ? null : String(look.phoneChoice)}
          onChange={(value) => value !== null && onChoose({ phoneColumn: Number(value) })}
          maw={420}
        />
      )}
      {look.columns.length > 0 && !needsPhoneColumn(look) && (
        <UnfilledVariables look={look} choices={choices} given={given} onChoose={onChoose} />
      )}
      {!needsPhoneColumn(look) && <Rows look={look} choices={choices} onChoose={onChoose} />}
    </>
  );
}

interface RowsProps {
  look: ContactFileSummary;
  choices: ReadingChoices;
  onChoose: (choices: ReadingChoices) => void;
}

function Rows({ look, choices, onChoose }: RowsProps) {
  if (look.problemCount > 0)
    return (
      <RowProblems problems={look.problems} total={look.problemCount}>
        {(look.skippableCount > 0 || look.nationalCount > 0) && (
          <Group pb="md" gap="sm">
            {look.nationalCount > 0 && (
              <Button size="xs" variant="default" onClick={() => onChoose({ ...choices, addsCountryCode: true })}>
                Add +1 (US and Canada) to {pluralize(look.nationalCount, "number")}
              </Button>
            )}
            {look.skippableCount > 0 && (
              <Button size="xs" variant="default" onClick={() => onChoose({ ...choices, skipsBadRows: true })}>
                Skip {pluralize(look.skippableCount, "row")} and keep{" "}
                {pluralize(look.rowCount - look.skippableCount, "contact")}
              </Button>
            )}
          </Group>
        )}
      </RowProblems>
    );
  // Not phone_number, which is not in their file.
  const headers = look.columns.map((name, at) => (at === look.phoneChoice ? (look.phoneChoices[at] ?? name) : name));
  return (
    <>
      <ChangeNote look={look} />
      <DataTable label="First contacts" columns={headers.map((title) => ({ title }))} minWidth={480}>
        {look.rows.map((fields, index) => (
          <Table.Tr key={`${index}-${fields[0] ?? ""}`}>
            {look.columns.map((column, at) => (
              <Table.Td key={column}>{fields[at]}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </DataTable>
    </>
  );
}

/** How what is sent differs from the file. */
function ChangeNote({ look }: { look: ContactFileSummary }) {
  const changes = [
    look.skippedCount > 0 && `${pluralize(look.skippedCount, "row")} skipped`,
    look.reformattedCount > 0 && `${pluralize(look.reformattedCount, "number")} reformatted`,
  ].filter((change) => change !== false);
  return changes.length === 0 ? null : (
    <Text role="status" fz="sm" c="dimmed">
      {changes.join(" · ")}
    </Text>
  );
}
