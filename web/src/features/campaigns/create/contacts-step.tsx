/** The first step: who is called, by which agent. The file is looked at here and sent while the reader goes on. */

import { Button, FileButton, Group, Progress, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { FileSpreadsheet } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { DataTable } from "../../../components/tables/data-table";
import { Panel } from "../../../components/layout/panel";
import { Problem } from "../../../components/feedback/problem";
import { formatFileSize, pluralize } from "../../../lib/format/format";
import { saveFile } from "../../../lib/api/download";
import { useAgentChoices } from "../../../lib/organization/agent-names";
import { upload } from "../api";
import type { ContactFileSummary, RowProblem } from "./contacts-csv";
import { summarizeContactFile } from "./contacts-csv";
import { decode } from "./csv-rows";
import classes from "./new-campaign.module.css";

export interface Contacts {
  name: string;
  size: number;
  look: ContactFileSummary;
  /** How it was written, when that was not UTF-8. */
  was: string | null;
  fileKey: string | null;
}

const EXAMPLE = `phone_number,first_name,appointment
+12015550101,Ann,Tuesday at ten
+12015550107,Bo,Friday at noon
`;

interface ContactsStepProps {
  name: string;
  agentId: string | null;
  contacts: Contacts | null;
  onName: (name: string) => void;
  onAgent: (id: string | null) => void;
  onContacts: (contacts: Contacts | null) => void;
  errorAt: (name: string) => string | undefined;
}

export function ContactsStep({ name, agentId, contacts, onName, onAgent, onContacts, errorAt }: ContactsStepProps) {
  const agents = useAgentChoices();
  return (
    <Stack gap="lg">
      <Panel title="Campaign">
        <Group p="lg" align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="Name"
            required
            placeholder="May reminders"
            value={name}
            onChange={(event) => onName(event.currentTarget.value)}
            error={errorAt("name")}
            maw={420}
          />
          <Select
            label="Agent"
            required
            searchable
            data={agents}
            value={agentId}
            onChange={onAgent}
            error={errorAt("workflow_id")}
            maw={420}
          />
        </Group>
      </Panel>
      <Panel title="Contacts">
        <FileField contacts={contacts} onContacts={onContacts} error={errorAt("contacts_file_key")} />
        {contacts && <Preview look={contacts.look} />}
      </Panel>
    </Stack>
  );
}

function FileField({
  contacts,
  onContacts,
  error,
}: {
  contacts: Contacts | null;
  onContacts: (contacts: Contacts | null) => void;
  error: string | undefined;
}) {
  const [share, setShare] = useState<number | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isOver, setIsOver] = useState(false);
  const turns = useRef(0);
  const last = useRef<File | null>(null);
  const forget = useRef<() => void>(null);
  const take = async (file: File | null | undefined) => {
    if (!file) return;
    last.current = file;
    // A file that was corrected has the same name: without this, choosing it again would be no change.
    forget.current?.();
    setFailure(null);
    const turn = (turns.current += 1);
    // Of two files that are chosen quickly, the last one counts.
    const isLast = () => turn === turns.current;
    try {
      const { text, was } = decode(new Uint8Array(await file.arrayBuffer()));
      if (!isLast()) return;
      const seen = { name: file.name, size: file.size, look: summarizeContactFile(text), was, fileKey: null };
      onContacts(seen);
      if (seen.look.problemCount > 0) return;
      setShare(0);
      const sent = was === null ? file : new File([text.replace(/^\uFEFF/, "")], file.name, { type: "text/csv" });
      const fileKey = await upload(sent, (part) => isLast() && setShare(part));
      if (isLast()) onContacts({ ...seen, fileKey });
    } catch (reason) {
      if (isLast()) setFailure(reason);
    } finally {
      if (isLast()) setShare(null);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void take(event.dataTransfer.files[0]);
  };
  return (
    <Stack p="lg" gap="sm">
      <div
        className={classes.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
      >
        <FileSpreadsheet size={28} strokeWidth={1.5} aria-hidden="true" />
        {contacts === null ? (
          <Text fz="sm">
            Drop a CSV file here. It needs a phone_number column. Other columns become variables for the agent.
          </Text>
        ) : (
          <Text fz="sm" fw={600}>
            {contacts.name} · {formatFileSize(contacts.size)} · {pluralize(contacts.look.rowCount, "contact")}
          </Text>
        )}
        <Group gap="sm" justify="center">
          <FileButton
            resetRef={forget}
            accept=".csv,text/csv"
            onChange={(file) => void take(file)}
            inputProps={{ "aria-label": "Contact file" }}
          >
            {(props) => (
              <Button {...props} variant={contacts === null ? "filled" : "default"} size="sm">
                {contacts === null ? "Choose a file" : "Choose another file"}
              </Button>
            )}
          </FileButton>
          {contacts === null && (
            <Button
              size="sm"
              variant="subtle"
              onClick={() => saveFile(new Blob([EXAMPLE], { type: "text/csv" }), "contacts-example.csv")}
            >
              Download an example
            </Button>
          )}
        </Group>
      </div>
      {share !== null && <Progress value={share * 100} aria-label="Upload progress" animated />}
      {contacts?.was != null && contacts.look.problemCount === 0 && (
        <Text fz="sm" c="dimmed">
          The file is encoded as {contacts.was}. Check that the characters below look right.
        </Text>
      )}
      {failure !== null && (
        <Problem title="The upload failed" error={failure} onRetry={() => void take(last.current)} />
      )}
      {error && <Problem error={new Error(error)} />}
    </Stack>
  );
}

function Preview({ look }: { look: ContactFileSummary }) {
  if (look.problemCount > 0) return <RowProblems problems={look.problems} total={look.problemCount} />;
  return (
    <DataTable label="First contacts" columns={look.columns.map((title) => ({ title }))} minWidth={480}>
      {look.rows.map((fields, index) => (
        <Table.Tr key={`${index}-${fields[0] ?? ""}`}>
          {look.columns.map((column, at) => (
            <Table.Td key={column}>{fields[at]}</Table.Td>
          ))}
        </Table.Tr>
      ))}
    </DataTable>
  );
}

export function RowProblems({ problems, total }: { problems: readonly RowProblem[]; total: number }) {
  return (
    <div role="alert">
      <Text px="lg" pb="xs" fz="sm" c="red" fw={600}>
        {pluralize(total, "problem")} in this file. Fix {total === 1 ? "it" : "them"} and choose the file again.
      </Text>
      <DataTable
        label="Problems in the file"
        columns={[{ title: "Row", isRight: true, width: 80 }, { title: "Column", width: 160 }, { title: "Problem" }]}
        minWidth={480}
      >
        {problems.map((problem) => (
          <Table.Tr key={`${problem.row}.${problem.column ?? ""}.${problem.message}`}>
            <Table.Td ta="right">{problem.row}</Table.Td>
            <Table.Td>{problem.column ?? "–"}</Table.Td>
            <Table.Td>{problem.message}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {total > problems.length && (
        <Text px="lg" py="sm" fz="sm" c="dimmed">
          Showing the first {problems.length}.
        </Text>
      )}
    </div>
  );
}
