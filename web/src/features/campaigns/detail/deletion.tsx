/** Deletes a campaign, or only its contact list. */

import { Checkbox, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Confirm } from "../../../components/forms/dialog";
import { notifySuccess } from "../../../lib/ui/notifications";
import { type Campaign, useDeleteCampaign, useDeleteContacts } from "../api";

interface DeletionProps {
  campaign: Pick<Campaign, "id" | "name">;
  onClose: () => void;
}

export function DeleteCampaign({ campaign, onClose }: DeletionProps) {
  const remove = useDeleteCampaign(campaign.id);
  const navigate = useNavigate();
  const [deletesRuns, setDeletesRuns] = useState(false);
  const confirm = () =>
    remove.mutate(deletesRuns, {
      onSuccess: () => {
        notifySuccess("Campaign deleted.");
        void navigate({ to: "/campaigns" });
      },
    });
  return (
    <Confirm
      title={`Delete ${campaign.name}?`}
      isOpen
      onClose={onClose}
      onConfirm={confirm}
      confirm="Delete"
      isBusy={remove.isPending}
      error={remove.error}
    >
      <Stack gap="sm">
        <Text fz="sm">
          The campaign, its contacts, its dials, and its contact file are deleted. Usage, charges, the do-not-call list,
          and the audit log stay. This cannot be undone.
        </Text>
        <Checkbox
          label="Delete its calls too, with recordings and transcripts"
          checked={deletesRuns}
          onChange={(event) => setDeletesRuns(event.currentTarget.checked)}
        />
      </Stack>
    </Confirm>
  );
}

export function DeleteContacts({ campaign, onClose }: DeletionProps) {
  const remove = useDeleteContacts(campaign.id);
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        notifySuccess("Contacts deleted.");
        onClose();
      },
    });
  return (
    <Confirm
      title={`Delete the contacts of ${campaign.name}?`}
      isOpen
      onClose={onClose}
      onConfirm={confirm}
      confirm="Delete"
      isBusy={remove.isPending}
      error={remove.error}
    >
      The contact list, its dials, and its file are deleted, so the campaign no longer has progress or a report. Its
      calls stay. This cannot be undone.
    </Confirm>
  );
}
