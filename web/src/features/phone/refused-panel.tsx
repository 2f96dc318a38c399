/** Calls that came in and could not be taken, with the reason. */

import { Table } from "@mantine/core";
import { useState } from "react";
import { DataTable, Pager } from "../../components/tables/data-table";
import { Panel } from "../../components/layout/panel";
import { formatTimeAgo, humanize } from "../../lib/format/format";
import { useLastPage } from "../../lib/ui/last-page";
import { useRefused } from "./api";

const COLUMNS = [{ title: "When" }, { title: "From" }, { title: "To" }, { title: "Reason" }, { title: "Message" }];

export function RefusedPanel() {
  const [page, setPage] = useState(1);
  const refused = useRefused(page);
  useLastPage(page, refused, setPage);
  if (refused.data === undefined || refused.data.total_count === 0) return null;
  return (
    <Panel title="Rejected calls">
      <DataTable label="Rejected calls" columns={COLUMNS} minWidth={760}>
        {refused.data.refused_calls.map((call) => (
          <Table.Tr key={call.id}>
            <Table.Td c="dimmed">{formatTimeAgo(call.created_at)}</Table.Td>
            <Table.Td fw={600}>{call.caller_number ?? "–"}</Table.Td>
            <Table.Td>{call.called_number ?? "–"}</Table.Td>
            <Table.Td>{humanize(call.reason)}</Table.Td>
            <Table.Td style={{ whiteSpace: "normal" }}>{call.message}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <Pager
        page={page}
        pages={refused.data.total_pages}
        total={refused.data.total_count}
        what="calls"
        onChange={setPage}
      />
    </Panel>
  );
}
