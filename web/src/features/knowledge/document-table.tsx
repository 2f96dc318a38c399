/** The documents of an organization as a table. */

import { Badge, Button, Group, Loader, Select, Table, Text, TextInput, Tooltip } from "@mantine/core";
import { useState } from "react";
import { DataTable } from "../../components/tables/data-table";
import { FormDialog } from "../../components/forms/dialog";
import { usePermissions } from "../../lib/organization/organization-context";
import { formatCount, formatFileSize, formatTimeAgo, humanize } from "../../lib/format/format";
import { useForm } from "../../lib/ui/use-form";
import { notifySuccess, notifyError } from "../../lib/ui/notifications";
import { type Document, useArchive, useUpdateDocument } from "./api";

const COLUMNS = [
  { title: "Document" },
  { title: "Status", width: 190 },
  { title: "Size", isRight: true },
  { title: "Passages", isRight: true },
  { title: "Added" },
  { title: "Actions", isQuiet: true },
];

export function DocumentTable({ documents }: { documents: Document[] }) {
  const [edited, setEdited] = useState<Document | null>(null);
  return (
    <>
      <DataTable label="Documents" columns={COLUMNS} minWidth={760}>
        {documents.map((document) => (
          <DocumentRow key={document.id} document={document} onEdit={() => setEdited(document)} />
        ))}
      </DataTable>
      {edited && <EditDocument document={edited} onClose={() => setEdited(null)} />}
    </>
  );
}

function DocumentRow({ document, onEdit }: { document: Document; onEdit: () => void }) {
  const permissions = usePermissions();
  const archive = useArchive();
  const isArchived = document.status === "archived";
  const turn = () =>
    archive.mutate(
      { id: document.id, isArchived },
      {
        onSuccess: () =>
          notifySuccess(
            isArchived ? `“${document.name}” unarchived.` : `“${document.name}” archived. Agents no longer use it.`,
          ),
        onError: notifyError,
      },
    );
  return (
    <Table.Tr>
      <Table.Td maw={340}>
        <Text fz="sm" fw={600} truncate title={document.name}>
          {document.name}
        </Text>
        {document.filename !== document.name && (
          <Text fz="xs" c="dimmed" truncate>
            {document.filename}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <State document={document} />
      </Table.Td>
      <Table.Td ta="right">{formatFileSize(document.size_bytes)}</Table.Td>
      <Table.Td ta="right">{document.chunk_count === null ? "–" : formatCount(document.chunk_count)}</Table.Td>
      <Table.Td c="dimmed">{formatTimeAgo(document.created_at)}</Table.Td>
      <Table.Td ta="right">
        {permissions.write && (
          <>
            <Button size="compact-sm" variant="subtle" onClick={onEdit} aria-label={`Edit ${document.name}`}>
              Edit
            </Button>
            <Button
              size="compact-sm"
              variant="subtle"
              color={isArchived ? "brand" : "gray"}
              onClick={turn}
              loading={archive.isPending}
              aria-label={`${isArchived ? "Unarchive" : "Archive"} ${document.name}`}
            >
              {isArchived ? "Unarchive" : "Archive"}
            </Button>
          </>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function State({ document }: { document: Document }) {
  if (document.status === "processing") {
    return (
      <Group gap={8} wrap="nowrap">
        <Loader size={14} aria-hidden="true" />
        <Text span fz="sm">
          Reading, {Math.round(document.progress * 100)}%
        </Text>
      </Group>
    );
  }
  if (document.status === "failed") {
    return (
      <Tooltip label={document.error ?? ""} multiline w={280}>
        <Text span fz="sm" c="red" style={{ whiteSpace: "normal" }}>
          {document.error ?? "The file could not be read."}
        </Text>
      </Tooltip>
    );
  }
  return <Badge color={document.status === "ready" ? "brand" : "gray"}>{humanize(document.status)}</Badge>;
}

const MODES = [
  { value: "auto", label: "Automatic, by length" },
  { value: "chunked", label: "Best passages only" },
  { value: "full_document", label: "Full text" },
];

export function EditDocument({ document, onClose }: { document: Document; onClose: () => void }) {
  const update = useUpdateDocument(document.id);
  const form = useForm<{ name: string; retrieval_mode: Document["retrieval_mode"] }>(
    { name: document.name, retrieval_mode: document.retrieval_mode },
    update.error,
    { labels: { retrieval_mode: "What agents receive" } },
  );
  const submit = () =>
    update.mutate(form.values, {
      onSuccess: () => {
        notifySuccess("Document saved.");
        onClose();
      },
    });
  return (
    <FormDialog
      title="Edit document"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Save"
      isBusy={update.isPending}
      problem={form.problem}
    >
      <TextInput label="Name" required data-autofocus {...form.text("name")} />
      <Select label="What agents receive" allowDeselect={false} data={MODES} {...form.field("retrieval_mode")} />
    </FormDialog>
  );
}
