/** Whether the organization demands two-step sign-in of its members. */

import { Button, NumberInput, Text } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { messageOf } from "../../../lib/api/errors";
import type { Schema } from "../../../lib/api/types";
import { formatDateTime } from "../../../lib/format/format";
import { notifySuccess } from "../../../lib/ui/notifications";
import classes from "../settings.module.css";
import { useSaveSecondFactorDemand, useSecondFactorDemand } from "./api";

const DAY_MS = 86_400_000;
const MAX_GRACE_DAYS = 89;

export function SecondFactorDemand() {
  const demand = useSecondFactorDemand();
  return (
    <Panel title="Two-step sign-in for members">
      <Loaded query={demand} what="The two-step sign-in of your members" height={160}>
        {(data) => <DemandForm demand={data} />}
      </Loaded>
    </Panel>
  );
}

function DemandForm({ demand }: { demand: Schema<"SecondFactorDemandResponse"> }) {
  const save = useSaveSecondFactorDemand();
  const [graceDays, setGraceDays] = useState<number | string>(7);
  const isRequired = demand.due_at !== null;
  const isGrace = typeof graceDays === "number" && graceDays >= 0 && graceDays <= MAX_GRACE_DAYS;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isRequired && !isGrace) return;
    const due = new Date(Date.now() + Number(graceDays) * DAY_MS).toISOString();
    save.mutate(isRequired ? null : due, { onSuccess: () => notifySuccess("Two-step sign-in saved.") });
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <Text fz="sm">
        {demand.due_at !== null && `Required from ${formatDateTime(demand.due_at)}. `}
        {membersWithout(demand.members_without)} API keys are not affected.
      </Text>
      {!isRequired && (
        <NumberInput
          label="Grace period"
          description="Until then, members without it can keep working. After that, they can only open their account to set it up."
          suffix=" days"
          clampBehavior="none"
          min={0}
          max={MAX_GRACE_DAYS}
          allowDecimal={false}
          value={graceDays}
          error={isGrace ? null : `Enter 0 to ${MAX_GRACE_DAYS} days.`}
          onChange={setGraceDays}
        />
      )}
      <FormProblem words={save.error ? messageOf(save.error) : null} />
      <div>
        <Button type="submit" variant={isRequired ? "default" : "filled"} loading={save.isPending}>
          {isRequired ? "Stop requiring it" : "Require two-step sign-in"}
        </Button>
      </div>
    </form>
  );
}

function membersWithout(count: number): string {
  if (count === 0) return "All members have it.";
  return count === 1 ? "One member does not have it yet." : `${count} members do not have it yet.`;
}
