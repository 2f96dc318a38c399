/** How long the organization keeps what its calls leave. */

import { Button } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { PeriodFields, useSavingPeriods } from "../../../components/forms/period-fields";
import { ShorterRetention } from "../../../components/forms/shorter-retention";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { usePermissions } from "../../../lib/organization/organization-context";
import { ORGANIZATION_FIELDS, type PeriodInput, type PeriodName, toDays } from "../../../lib/organization/retention";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { useRetention, useSaveRetention } from "./api";

const LABELS = {
  recordings_days: "Recordings",
  transcripts_days: "Transcripts",
  runs_days: "Runs",
  contacts_days: "Contacts",
  audit_days: "Audit log",
};

export function RetentionPanel() {
  const retention = useRetention();
  return (
    <Panel title="Retention">
      <Loaded query={retention} what="The retention settings" height={240}>
        {(data) => <RetentionForm retention={data} />}
      </Loaded>
    </Panel>
  );
}

function RetentionForm({ retention }: { retention: Schema<"RetentionResponse"> }) {
  const permissions = usePermissions();
  const save = useSaveRetention();
  const form = useForm<Record<PeriodName, PeriodInput>>(
    {
      recordings_days: retention.recordings_days ?? "",
      transcripts_days: retention.transcripts_days ?? "",
      runs_days: retention.runs_days ?? "",
      contacts_days: retention.contacts_days ?? "",
      audit_days: retention.audit_days ?? "",
    },
    save.error,
    { labels: LABELS },
  );
  const saving = useSavingPeriods<Schema<"RetentionUpdate">>(retention, ORGANIZATION_FIELDS, (next, done) =>
    save.mutate(next, { onSuccess: () => notifySuccess("Retention saved."), onSettled: done }),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.reset();
    const { recordings_days, transcripts_days, runs_days, contacts_days, audit_days } = form.values;
    saving.submit({
      recordings_days: toDays(recordings_days),
      transcripts_days: toDays(transcripts_days),
      runs_days: toDays(runs_days),
      contacts_days: toDays(contacts_days),
      audit_days: toDays(audit_days),
    });
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <PeriodFields fields={ORGANIZATION_FIELDS} form={form} placeholder="No limit" isDisabled={!permissions.admin} />
      <FormProblem words={form.problem} />
      {permissions.admin && (
        <div>
          <Button type="submit" loading={save.isPending}>
            Save retention
          </Button>
        </div>
      )}
      <ShorterRetention
        deletions={saving.deletions}
        onClose={saving.cancel}
        onConfirm={saving.confirm}
        isBusy={save.isPending}
      />
    </form>
  );
}
