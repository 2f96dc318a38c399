/** The documents of an organization as a table. */

import { Anchor, Badge, Button, Group, Loader, Select, Table, Text, TextInput, Tooltip } from "@mantine/core";
import { useState } from "react";
import { DataTable } from "../../components/tables/data-table";
import { FormDialog } from "../../components/forms/dialog";
import { usePermissions } from "../../lib/organization/organization-context";
import { formatCount, formatFileSize, formatTimeAgo, humanize } from "../../lib/format/format";
import { useForm } from "../../lib/ui/use-form";
import { notifySuccess, notifyError } from "../../lib/ui/notifications";
import { type Document, useArchive, useReadAgain, useUpdateDocument } from "./api";
import { shownAddress } from "../../lib/format/web-address";

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
        <Origin document={document} />
      </Table.Td>
      <Table.Td>
        <State document={document} />
      </Table.Td>
      <Table.Td ta="right">{document.size_bytes === 0 ? "–" : formatFileSize(document.size_bytes)}</Table.Td>
      <Table.Td ta="right">{document.chunk_count === null ? "–" : formatCount(document.chunk_count)}</Table.Td>
      <Table.Td c="dimmed">{formatTimeAgo(document.created_at)}</Table.Td>
      <Table.Td ta="right">
        {permissions.write && (
          <>
            <ReadAgain document={document} />
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

/** Shows where a document comes from, unless its name says so. */
function Origin({ document }: { document: Document }) {
  const page = document.web_page;
  if (page === null) {
    if (document.filename === document.name) return null;
    return (
      <Text fz="xs" c="dimmed" truncate>
        {document.filename}
      </Text>
    );
  }
  return (
    <>
      <Text fz="xs" truncate title={page.address}>
        <Anchor inherit href={page.address} target="_blank" rel="noreferrer">
          {shownAddress(page.address)}
        </Anchor>
      </Text>
      {page.read_at !== null && (
        <Text fz="xs" c="dimmed">
          Read {formatTimeAgo(page.read_at)}
        </Text>
      )}
    </>
  );
}

function ReadAgain({ document }: { document: Document }) {
  const readAgain = useReadAgain();
  if (document.web_page === null || document.web_page.is_being_read || document.status === "archived") return null;
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      loading={readAgain.isPending}
      onClick={() => readAgain.mutate(document.id, { onError: notifyError })}
      aria-label={`Read ${document.name} again`}
    >
      Read again
    </Button>
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
          {document.error ?? "The document could not be read."}
        </Text>
      </Tooltip>
    );
  }
  const page = document.web_page;
  if (page?.is_being_read === true && document.status === "ready") {
    return (
      <Group gap={8} wrap="nowrap">
        <Loader size={14} aria-hidden="true" />
        <Text span fz="sm">
          Reading again
        </Text>
      </Group>
    );
  }
  return (
    <>
      <Badge color={document.status === "ready" ? "brand" : "gray"}>{humanize(document.status)}</Badge>
      {document.status === "ready" && page?.error != null && (
        <Text fz="xs" c="red" mt={4} style={{ whiteSpace: "normal" }}>
          {page.error} Agents keep using the previous content.
        </Text>
      )}
      {document.notice !== null && (
        <Text fz="xs" c="dimmed" mt={4} style={{ whiteSpace: "normal" }}>
          {document.notice}
        </Text>
      )}
    </>
  );
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
