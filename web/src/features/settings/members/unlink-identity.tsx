/** Takes the identity of the organization's provider off a member. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { Confirm } from "../../../components/forms/dialog";
import type { Schema } from "../../../lib/api/types";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useUnlinkIdentity } from "./api";

export function UnlinkIdentity({ member }: { member: Schema<"MemberResponse"> }) {
  const unlink = useUnlinkIdentity();
  const [isAsking, setIsAsking] = useState(false);
  const confirm = () =>
    unlink.mutate(member.user_id, {
      onSuccess: () => {
        setIsAsking(false);
        notifySuccess("Identity unlinked.");
      },
    });
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        onClick={() => setIsAsking(true)}
        aria-label={`Unlink the identity of ${member.email}`}
      >
        Unlink identity
      </Button>
      <Confirm
        title={`Unlink the identity of ${member.email}?`}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={confirm}
        confirm="Unlink"
        isBusy={unlink.isPending}
        error={unlink.error}
      >
        Sessions opened with the identity provider end. The next sign-in with this address links it again.
      </Confirm>
    </>
  );
}
