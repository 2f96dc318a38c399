/** Ends a canary by hand, with a reason that the audit log keeps. */

import { Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { messageOf } from "../../../lib/api/errors";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useEditorContext } from "../state/editor";
import { type Canary, type Direction, useEndCanary } from "./api";

const MIN_REASON_CHARS = 3;
const MAX_REASON_CHARS = 500;

interface EndDialogProps {
  canary: Canary;
  direction: Direction;
  onClose: () => void;
}

export function EndDialog({ canary, direction, onClose }: EndDialogProps) {
  const { agent } = useEditorContext();
  const end = useEndCanary(agent.id);
  const [reason, setReason] = useState("");
  const kept = direction === "forward" ? canary.version_number : canary.old_version_number;
  const submit = async () => {
    try {
      await end.mutateAsync({ decision: direction, reason: reason.trim() });
    } catch {
      return; // shown in the dialog
    }
    notifySuccess(`Version ${kept} is published. New calls use it.`);
    onClose();
  };
  return (
    <FormDialog
      title={direction === "forward" ? `Send all calls to version ${kept}?` : `Go back to version ${kept}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => void submit()}
      submit={direction === "forward" ? "Send all calls to it" : "Go back"}
      isBusy={end.isPending}
      isDisabled={reason.trim().length < MIN_REASON_CHARS}
      problem={end.isError ? messageOf(end.error) : null}
    >
      <Text fz="sm">Calls in progress keep the version they started with.</Text>
      <Textarea
        label="Reason"
        description="Recorded in the audit log with your name."
        required
        autosize
        minRows={1}
        maxLength={MAX_REASON_CHARS}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
