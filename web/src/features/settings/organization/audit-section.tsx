/** Who changed what, and from where. */

import { Badge, Button, Group, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Download } from "lucide-react";
import { Fragment, useState } from "react";
import { DataTable, Pager } from "../../../components/tables/data-table";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { formatDateTime } from "../../../lib/format/format";
import { useLastPage } from "../../../lib/ui/last-page";
import type { Schema } from "../../../lib/api/types";
import { notifyError } from "../../../lib/ui/notifications";
import { downloadFile } from "../../../lib/api/download";
import { auditExportPath, useAudit } from "../do-not-call/api";
import { detailWords, entryWords, isOfLink, searchedFor } from "./audit-descriptions";

const COLUMNS = [{ title: "When", width: 190 }, { title: "Who", width: 210 }, { title: "What" }];

export default function AuditSection() {
  const [typed, setTyped] = useState("");
  const [action] = useDebouncedValue(typed, 300);
  const [page, setPage] = useState(1);
  const log = useAudit(searchedFor(action), page);
  useLastPage(page, log, setPage);
  return (
    <Panel
      title="Audit log"
      right={
        <Group gap="xs">
          <TextInput
            size="xs"
            aria-label="Find an action"
            placeholder="agent, member, API key…"
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setPage(1);
            }}
          />
          <Export action={searchedFor(action)} />
        </Group>
      }
    >
      <Loaded query={log} what="The audit log" height={400}>
        {(data) =>
          data.entries.length === 0 ? (
            <Empty isInside title={action === "" ? "No entries yet" : "No matching actions"}>
              Every change is recorded here with the person who made it.
            </Empty>
          ) : (
            <>
              <DataTable label="Audit log" columns={COLUMNS} minWidth={680}>
                {data.entries.map((entry) => (
                  <Table.Tr key={entry.id}>
                    <Table.Td>
                      {formatDateTime(entry.created_at)}
                      <Second words={entry.ip} />
                    </Table.Td>
                    <Table.Td>
                      <Who entry={entry} />
                    </Table.Td>
                    <Table.Td style={{ whiteSpace: "normal" }}>
                      <What entry={entry} />
                      <Details action={entry.action} data={entry.data} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <Pager page={page} pages={data.total_pages} total={data.total_count} what="entries" onChange={setPage} />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Export({ action }: { action: string }) {
  const [isBusy, setIsBusy] = useState(false);
  const start = async () => {
    setIsBusy(true);
    const name = `audit-log-${new Date().toISOString().slice(0, 10)}.ndjson`;
    await downloadFile(auditExportPath(action), name).catch(notifyError);
    setIsBusy(false);
  };
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Download size={14} />}
      loading={isBusy}
      onClick={() => void start()}
    >
      Export
    </Button>
  );
}

function Second({ words }: { words: string | null }) {
  if (words === null) return null;
  return (
    <Text fz="xs" c="dimmed">
      {words}
    </Text>
  );
}

function Details({ action, data }: { action: string; data: Record<string, unknown> }) {
  const parts = detailWords(data, action);
  if (parts.length === 0) return null;
  return (
    <Text fz="xs" style={{ overflowWrap: "anywhere" }}>
      {parts.map(({ name, value }, at) => (
        <Fragment key={name}>
          {at > 0 && " · "}
          <Text span inherit c="dimmed">
            {name}:
          </Text>{" "}
          {value}
        </Fragment>
      ))}
    </Text>
  );
}

function What({ entry }: { entry: Schema<"AuditEntryResponse"> }) {
  const { what, to } = entryWords(entry.action, entry.target ?? "");
  return (
    <>
      <b title={entry.action}>{what}</b>{" "}
      <Text span fz="xs" c="dimmed">
        {to}
      </Text>
    </>
  );
}

function Who({ entry }: { entry: Schema<"AuditEntryResponse"> }) {
  const program = isOfLink(entry.data) ? "A signed link" : "Offhook";
  const name = entry.actor_email ?? (entry.actor_key_name === null ? program : `key “${entry.actor_key_name}”`);
  return (
    <>
      <Text span fz="sm">
        {name}
      </Text>
      {entry.impersonator_email && (
        <Badge ml={6} color="yellow">
          impersonated by {entry.impersonator_email}
        </Badge>
      )}
    </>
  );
}
