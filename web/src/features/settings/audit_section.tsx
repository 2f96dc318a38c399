/** Who changed what, and from where. */

import { Badge, Code, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { DataTable, Pager } from "../../components/data_table";
import { Empty, Loaded } from "../../components/page";
import { Panel } from "../../components/panel";
import { dateTime } from "../../lib/format";
import type { Schema } from "../../lib/types";
import { useAudit } from "./api_lists";

const COLUMNS = [{ title: "When" }, { title: "Who" }, { title: "Did" }, { title: "To" }, { title: "Details" }, { title: "From" }];

export default function AuditSection() {
  const [typed, setTyped] = useState("");
  const [action] = useDebouncedValue(typed, 300);
  const [page, setPage] = useState(1);
  const log = useAudit(action, page);
  return (
    <Panel
      title="Audit log"
      right={
        <TextInput
          size="xs"
          aria-label="Find an action"
          placeholder="key, member, workflow…"
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setPage(1);
          }}
        />
      }
    >
      <Loaded query={log} what="The audit log" height={400}>
        {(data) =>
          data.entries.length === 0 ? (
            <Empty isInside title="Nothing here">
              Every change is written down here.
            </Empty>
          ) : (
            <>
              <DataTable label="Audit log" columns={COLUMNS} minWidth={900}>
                {data.entries.map((entry) => (
                  <Table.Tr key={entry.id}>
                    <Table.Td c="dimmed">{dateTime(entry.created_at)}</Table.Td>
                    <Table.Td>
                      <Who entry={entry} />
                    </Table.Td>
                    <Table.Td fw={600}>{entry.action}</Table.Td>
                    <Table.Td>{entry.target ?? "–"}</Table.Td>
                    <Table.Td maw={280}>
                      {Object.keys(entry.data).length > 0 && (
                        <Code style={{ whiteSpace: "normal", overflowWrap: "anywhere", background: "none" }}>{JSON.stringify(entry.data)}</Code>
                      )}
                    </Table.Td>
                    <Table.Td c="dimmed">{entry.ip ?? "–"}</Table.Td>
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

function Who({ entry }: { entry: Schema<"AuditEntryResponse"> }) {
  const name = entry.actor_email ?? (entry.actor_key_name === null ? "Offhook" : `key “${entry.actor_key_name}”`);
  return (
    <>
      <Text span fz="sm">
        {name}
      </Text>
      {entry.impersonator_email && (
        <Badge ml={6} color="yellow">
          really {entry.impersonator_email}
        </Badge>
      )}
    </>
  );
}
