/** How long the organization keeps what its calls leave. */

import { Button, NumberInput } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { useRetention, useSaveRetention } from "./api";

type Days = number | "";

const FIELDS = [
  {
    name: "recordings_days",
    label: "Recordings",
    description: "Days until recordings are deleted.",
  },
  {
    name: "transcripts_days",
    label: "Transcripts",
    description: "Days until transcripts, variables, and reviews are deleted. Times, steps, and cost stay.",
  },
  {
    name: "runs_days",
    label: "Runs",
    description: "Days until whole runs are deleted, with their recordings and transcripts. Usage and charges stay.",
  },
  {
    name: "contacts_days",
    label: "Contacts",
    description:
      "Days after a campaign ends until phone numbers and variables are removed from its contacts. Counts and the report stay.",
  },
  {
    name: "audit_days",
    label: "Audit log",
    description: "Days until audit log entries are deleted; at least 90.",
  },
] as const;

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
  const form = useForm<Record<(typeof FIELDS)[number]["name"], Days>>(
    {
      recordings_days: retention.recordings_days ?? "",
      transcripts_days: retention.transcripts_days ?? "",
      runs_days: retention.runs_days ?? "",
      contacts_days: retention.contacts_days ?? "",
      audit_days: retention.audit_days ?? "",
    },
    save.error,
    {
      labels: {
        recordings_days: "Recordings",
        transcripts_days: "Transcripts",
        runs_days: "Runs",
        contacts_days: "Contacts",
        audit_days: "Audit log",
      },
    },
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { recordings_days, transcripts_days, runs_days, contacts_days, audit_days } = form.values;
    save.mutate(
      {
        recordings_days: toDays(recordings_days),
        transcripts_days: toDays(transcripts_days),
        runs_days: toDays(runs_days),
        contacts_days: toDays(contacts_days),
        audit_days: toDays(audit_days),
      },
      { onSuccess: () => notifySuccess("Retention saved.") },
    );
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      {FIELDS.map(({ name, label, description }) => (
        <NumberInput
          key={name}
          label={label}
          description={description}
          placeholder="No limit"
          suffix=" days"
          min={name === "audit_days" ? 90 : 1}
          max={3650}
          allowDecimal={false}
          disabled={!permissions.admin}
          {...form.field(name)}
        />
      ))}
      <FormProblem words={form.problem} />
      {permissions.admin && (
        <div>
          <Button type="submit" loading={save.isPending}>
            Save retention
          </Button>
        </div>
      )}
    </form>
  );
}

function toDays(value: Days): number | null {
  return value === "" ? null : value;
}
