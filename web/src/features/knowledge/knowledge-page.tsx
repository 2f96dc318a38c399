/** Documents: dragged in, read, searched, taken away. */

import { Alert, Button, CloseButton, FileButton, Group, Progress, Switch, Text } from "@mantine/core";
import { FileUp, Globe, PenLine } from "lucide-react";
import { type DragEvent, useState } from "react";
import { ShowMore } from "../../components/tables/data-table";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { DOCUMENT_KINDS } from "../../lib/api/document-upload";
import { usePermissions } from "../../lib/organization/organization-context";
import { AddWebPage } from "../../components/forms/add-web-page";
import { useDocuments, useHasArchived } from "./api";
import { DocumentTable } from "./document-table";
import classes from "./knowledge.module.css";
import { SearchPanel } from "./search-panel";
import { type Upload, useUploads } from "./use-uploads";
import { WriteDocument } from "./write-document";

export function KnowledgePage() {
  const permissions = usePermissions();
  const [hasArchived, setHasArchived] = useState(false);
  const documents = useDocuments(hasArchived);
  const isBare = documents.data?.length === 0;
  const mayHaveArchived = useHasArchived(isBare && !hasArchived);
  const { uploads, add, dismiss } = useUploads();
  const [isAddingPage, setIsAddingPage] = useState(false);
  const [isWriting, setIsWriting] = useState(false);
  return (
    <Page title="Knowledge" about="Documents that agents search during calls. Each step selects its own.">
      {permissions.write && (
        <Drop onFiles={add} onPage={() => setIsAddingPage(true)} onWrite={() => setIsWriting(true)} />
      )}
      {isAddingPage && <AddWebPage onClose={() => setIsAddingPage(false)} />}
      {isWriting && <WriteDocument onClose={() => setIsWriting(false)} onWritten={(file) => add([file])} />}
      {uploads.map((upload) => (
        <UploadLine key={upload.id} upload={upload} onDismiss={() => dismiss(upload.id)} />
      ))}
      <Loaded query={documents} what="The documents" height={240}>
        {(data) => {
          if (isBare && !mayHaveArchived) {
            return (
              <Empty title="No documents yet">
                Upload opening hours, price lists, or a handbook as PDF, Word, text, Markdown, HTML, or CSV, or add a
                page from your website. Documents are ready within a minute, and you can test here what agents would
                find.
              </Empty>
            );
          }
          return (
            <>
              <SearchPanel isEmpty={!data.some((document) => document.status === "ready")} />
              <Panel
                title="Documents"
                right={
                  <Switch
                    label="Archived"
                    checked={hasArchived}
                    onChange={(event) => setHasArchived(event.currentTarget.checked)}
                  />
                }
              >
                {isBare ? (
                  <Empty isInside title="All documents are archived">
                    Turn on Archived to see them.
                  </Empty>
                ) : (
                  <DocumentTable documents={data} />
                )}
                <ShowMore list={documents} what="documents" />
              </Panel>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface DropProps {
  onFiles: (files: Iterable<File>) => void;
  onPage: () => void;
  onWrite: () => void;
}

function Drop({ onFiles, onPage, onWrite }: DropProps) {
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    onFiles(event.dataTransfer.files);
  };
  return (
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
      <FileUp size={26} strokeWidth={1.5} aria-hidden="true" />
      <Text fz="sm">Drop documents here: PDF, Word (DOCX), text, Markdown, HTML, or CSV, up to 50 MB each</Text>
      <Group gap={14} justify="center">
        <FileButton multiple accept={DOCUMENT_KINDS} onChange={onFiles} inputProps={{ "aria-label": "Documents" }}>
          {(props) => (
            <Button {...props} size="sm">
              Choose files
            </Button>
          )}
        </FileButton>
        <Button size="sm" variant="default" leftSection={<Globe size={16} aria-hidden="true" />} onClick={onPage}>
          From a web address
        </Button>
        <Button size="sm" variant="default" leftSection={<PenLine size={16} aria-hidden="true" />} onClick={onWrite}>
          Write text
        </Button>
      </Group>
    </div>
  );
}

function UploadLine({ upload, onDismiss }: { upload: Upload; onDismiss: () => void }) {
  if (upload.problem !== null) {
    return (
      <Alert color="red" variant="light" role="alert" title={`${upload.name} was not uploaded`}>
        <Group justify="space-between" wrap="nowrap">
          {upload.problem}
          <CloseButton aria-label="Dismiss" onClick={onDismiss} />
        </Group>
      </Alert>
    );
  }
  return (
    <div>
      <Text fz="sm" mb={4}>
        {upload.name}
      </Text>
      <Progress value={upload.share * 100} animated aria-label={`${upload.name}: upload progress`} />
    </div>
  );
}
