/** What people wrote about a run: a note, and tags to find it by. Saved as they are left. */

import { Stack, TagsInput, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { Panel } from "../../../components/layout/panel";
import type { RunDetail } from "../../../lib/api/types";
import { tagLabel, tagOf } from "../../../lib/runs/run-labels";
import { permissionsOf, useOrganizationContext } from "../../../lib/organization/organization-context";
import { useUpdateNotes } from "../api";

const MAX_TAGS = 20;
const LONGEST_TAG = 64;
const LONGEST_NOTE = 2000;

export function NotesPanel({ agentId, run }: { agentId: number; run: Pick<RunDetail, "id" | "note" | "tags"> }) {
  const canWrite = permissionsOf(useOrganizationContext().data?.role).write;
  const update = useUpdateNotes(agentId, run.id);
  const [note, setNote] = useState(run.note ?? "");
  const saveNote = () => {
    if (note.trim() !== (run.note ?? "")) update.mutate({ note: note.trim() });
  };
  if (!canWrite && run.note === null && run.tags.length === 0) return null;
  return (
    <Panel
      title="Notes"
      right={
        <Text fz="sm" c="dimmed" role="status">
          {update.isPending ? "Saving" : update.isSuccess ? "Saved" : ""}
        </Text>
      }
    >
      <Stack p="md" gap="sm">
        <TagsInput
          aria-label="Tags"
          placeholder={run.tags.length === 0 ? "Add a tag" : ""}
          readOnly={!canWrite}
          maxTags={MAX_TAGS}
          maxLength={LONGEST_TAG}
          value={run.tags.map(tagLabel)}
          onChange={(tags) => update.mutate({ tags: tags.map(tagOf) })}
        />
        <Textarea
          aria-label="Note"
          placeholder="Add a note"
          autosize
          minRows={2}
          maxLength={LONGEST_NOTE}
          readOnly={!canWrite}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
          onBlur={saveNote}
        />
      </Stack>
    </Panel>
  );
}
