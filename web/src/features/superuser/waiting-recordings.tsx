/** Recordings that wait on machines for upload to the bucket: how many, since when, and why. */

import { Badge, Button, Table, Text } from "@mantine/core";
import { useState } from "react";
import { Confirm } from "../../components/forms/dialog";
import { Panel } from "../../components/layout/panel";
import { DataTable } from "../../components/tables/data-table";
import type { Schema } from "../../lib/api/types";
import { formatDateTime, formatFileSize, formatTimeAgo, pluralize } from "../../lib/format/format";
import { useRemoveSpool } from "./api";

type Spool = Schema<"WaitingRecordingsItem">;

const COLUMNS = [
  { title: "Machine and folder" },
  { title: "State" },
  { title: "Recordings", isRight: true },
  { title: "Size", isRight: true },
  { title: "Oldest", isRight: true },
  { title: "Last error" },
  { title: "Actions", isQuiet: true },
];

export function WaitingRecordings({ spools }: { spools: Spool[] }) {
  const [asked, setAsked] = useState<Spool | null>(null);
  const remove = useRemoveSpool();
  const close = () => {
    setAsked(null);
    remove.reset();
  };
  return (
    <Panel title="Recordings waiting for upload">
      <DataTable label="Recordings waiting for upload" columns={COLUMNS} minWidth={860}>
        {spools.map((spool) => (
          <SpoolRow key={spool.id} spool={spool} onRemove={() => setAsked(spool)} />
        ))}
      </DataTable>
      <Text fz="sm" c="dimmed" px="md" py="sm">
        Calls are not affected. Until a recording is uploaded, only the process on its machine can play it.
      </Text>
      <Confirm
        title="Remove this row?"
        isOpen={asked !== null}
        onClose={close}
        onConfirm={() => asked && remove.mutate(asked.id, { onSuccess: close })}
        confirm="Remove"
        isBusy={remove.isPending}
        error={remove.error}
      >
        {asked &&
          `${pluralize(asked.files, "recording")} on ${asked.place} will no longer be listed here. Do this only if that disk is gone. No files are deleted: if a process starts there again, it uploads them.`}
      </Confirm>
    </Panel>
  );
}

function SpoolRow({ spool, onRemove }: { spool: Spool; onRemove: () => void }) {
  const cut = spool.place.indexOf(":");
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: "normal", overflowWrap: "anywhere" }}>
        <Text fz="sm" fw={600}>
          {spool.place.slice(0, cut)}
        </Text>
        <Text fz="xs" c="dimmed">
          {spool.place.slice(cut + 1)}
        </Text>
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>
        <Badge color={spool.is_tried ? "yellow" : "red"}>{spool.is_tried ? "Retrying" : "No process"}</Badge>{" "}
        <Text span fz="xs" c="dimmed">
          {spool.is_tried
            ? "Every 20 seconds"
            : `Last reported ${formatTimeAgo(spool.seen_at)}. Start a server there with the same data folder.`}
        </Text>
      </Table.Td>
      <Table.Td ta="right">{spool.files}</Table.Td>
      <Table.Td ta="right">{formatFileSize(spool.bytes)}</Table.Td>
      <Table.Td ta="right" c="dimmed" title={formatDateTime(spool.oldest_at)}>
        {formatTimeAgo(spool.oldest_at)}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>{spool.error ?? "–"}</Table.Td>
      <Table.Td ta="right">
        {!spool.is_tried && (
          <Button size="compact-sm" variant="subtle" onClick={onRemove} aria-label={`Remove ${spool.place}`}>
            Remove
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
