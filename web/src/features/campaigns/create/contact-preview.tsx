/** What a contact file holds, or what is wrong with it and what can be done about it without another file. */

import { Button, Group, Select, Table, Text } from "@mantine/core";
import { DataTable } from "../../../components/tables/data-table";
import { pluralize } from "../../../lib/format/format";
import type { Contacts } from "./contact-file-field";
import { type ContactFileSummary, needsPhoneColumn, type ReadingChoices } from "./contacts-csv";
import { RowProblems } from "./row-problems";

interface ContactPreviewProps {
  contacts: Contacts;
  onChoose: (choices: ReadingChoices) => void;
}

export function ContactPreview({ contacts: { look, choices }, onChoose }: ContactPreviewProps) {
  return (
    <>
      {look.phoneChoices.length > 0 && (
        <Select
          label="Phone number column"
          description="No column is named phone_number. Numbers need their country code, as in +12015550123."
          placeholder="Choose a column"
          allowDeselect={false}
          data={look.phoneChoices.map((name, index) => ({ value: String(index), label: name }))}
          value={look.phoneChoice === null ? null : String(look.phoneChoice)}
          onChange={(value) => value !== null && onChoose({ phoneColumn: Number(value) })}
          maw={420}
        />
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
        {look.skippableCount > 0 && (
          <Group pb="md" gap="sm">
            <Button size="xs" variant="default" onClick={() => onChoose({ ...choices, skipsBadRows: true })}>
              Skip {pluralize(look.skippableCount, "row")} and keep{" "}
              {pluralize(look.rowCount - look.skippableCount, "contact")}
            </Button>
          </Group>
        )}
      </RowProblems>
    );
  return (
    <>
      <ChangeNote look={look} />
      <DataTable label="First contacts" columns={look.columns.map((title) => ({ title }))} minWidth={480}>
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
