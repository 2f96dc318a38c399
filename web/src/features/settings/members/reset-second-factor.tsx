/** Turns two-step sign-in off for a member who lost their device. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { Confirm } from "../../../components/forms/dialog";
import type { Schema } from "../../../lib/api/types";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useResetSecondFactor } from "./api";

export function ResetSecondFactor({ member }: { member: Schema<"MemberResponse"> }) {
  const reset = useResetSecondFactor();
  const [isAsking, setIsAsking] = useState(false);
  const confirm = () =>
    reset.mutate(member.user_id, {
      onSuccess: () => {
        setIsAsking(false);
        notifySuccess("Two-step sign-in reset.");
      },
    });
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        onClick={() => setIsAsking(true)}
        aria-label={`Reset the two-step sign-in of ${member.email}`}
      >
        Reset two-step
      </Button>
      <Confirm
        title={`Reset the two-step sign-in of ${member.email}?`}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={confirm}
        confirm="Reset"
        isBusy={reset.isPending}
        error={reset.error}
      >
        Do this only if you are sure that the request comes from them. Their sessions end, and they can then sign in
        with their password alone.
      </Confirm>
    </>
  );
}
