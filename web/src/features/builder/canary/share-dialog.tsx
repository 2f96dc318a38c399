/** Changes the share of calls that a running canary takes. */

import { Text } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { messageOf } from "../../../lib/api/errors";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useEditorContext } from "../state/editor";
import { type Canary, useChangeShare } from "./api";
import { isShare, ShareInput } from "./share-field";

interface ShareDialogProps {
  canary: Canary;
  onClose: () => void;
}

export function ShareDialog({ canary, onClose }: ShareDialogProps) {
  const { agent } = useEditorContext();
  const change = useChangeShare(agent.id);
  const [share, setShare] = useState(canary.share);
  const submit = async () => {
    try {
      await change.mutateAsync({ share });
    } catch {
      return; // shown in the dialog
    }
    notifySuccess(`Version ${canary.version_number} now takes ${share}% of calls.`);
    onClose();
  };
  return (
    <FormDialog
      title={`Share of version ${canary.version_number}`}
      isOpen
      onClose={onClose}
      onSubmit={() => void submit()}
      submit="Change share"
      isBusy={change.isPending}
      isDisabled={!isShare(share) || share === canary.share}
      problem={change.isError ? messageOf(change.error) : null}
    >
      <Text fz="sm">
        With a larger share, callers who have talked to version {canary.version_number} stay with it. Calls in progress
        keep their version.
      </Text>
      <ShareInput share={share} onChange={setShare} />
    </FormDialog>
  );
}
