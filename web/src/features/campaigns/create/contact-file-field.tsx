/** The contact file: chosen or dropped, looked at here, and sent while its user goes on. */

import { Button, FileButton, Group, Progress, Stack, Text } from "@mantine/core";
import { FileSpreadsheet } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { Problem } from "../../../components/feedback/problem";
import type { GivenVariable } from "../../../graph/variables";
import { saveFile } from "../../../lib/api/download";
import { formatFileSize, pluralize } from "../../../lib/format/format";
import { upload } from "../api";
import { ContactPreview } from "./contact-preview";
import {
  type ContactFileSummary,
  needsPhoneColumn,
  type ReadingChoices,
  rewriteContactFile,
  summarizeContactFile,
} from "./contacts-csv";
import { decode } from "./csv-rows";
import classes from "./new-campaign.module.css";

export interface Contacts {
  file: File;
  look: ContactFileSummary;
  choices: ReadingChoices;
  /** How it was written, when that was not UTF-8. */
  was: string | null;
  fileKey: string | null;
}

const EXAMPLE = `phone_number,first_name,appointment
+12015550101,Ann,Tuesday at ten
+12015550107,Bo,Friday at noon
`;

export function ContactFileField({
  contacts,
  given,
  onContacts,
  error,
}: {
  contacts: Contacts | null;
  given: readonly GivenVariable[] | undefined;
  onContacts: (contacts: Contacts | null) => void;
  error: string | undefined;
}) {
  const [share, setShare] = useState<number | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isOver, setIsOver] = useState(false);
  const turns = useRef(0);
  const last = useRef(contacts?.file ?? null);
  const forget = useRef<() => void>(null);
  const take = async (file: File | null | undefined, choices: ReadingChoices = {}) => {
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
      const look = summarizeContactFile(text, choices);
      const seen = { file, look, choices, was, fileKey: null };
      onContacts(seen);
      if (look.problemCount > 0) return;
      setShare(0);
      const rewritten = look.needsRewrite ? rewriteContactFile(text, choices) : text.replace(/^\uFEFF/, "");
      const isAsItWas = was === null && !look.needsRewrite;
      const sent = isAsItWas ? file : new File([rewritten], file.name, { type: "text/csv" });
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
            {[
              contacts.file.name,
              formatFileSize(contacts.file.size),
              // Rows are counted once it is known which column has the numbers.
              ...(needsPhoneColumn(contacts.look) ? [] : [pluralize(contacts.look.rowCount, "contact")]),
            ].join(" · ")}
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
      {contacts && (
        <ContactPreview contacts={contacts} given={given} onChoose={(choices) => void take(last.current, choices)} />
      )}
    </Stack>
  );
}
