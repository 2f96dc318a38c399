/** How long this agent's calls are kept. It belongs to the agent and applies at once, unlike other settings. */

import { Button, Stack, Text } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { PeriodFields, useSavingPeriods } from "../../../components/forms/period-fields";
import { ShorterRetention } from "../../../components/forms/shorter-retention";
import { Loaded } from "../../../components/layout/page";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";
import { usePermissions } from "../../../lib/organization/organization-context";
import { CALL_FIELDS, type PeriodInput, toDays } from "../../../lib/organization/retention";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import { useEditorContext } from "../state/editor";
import { useAgentRetention, useSaveAgentRetention } from "./retention-api";

type Retention = Schema<"AgentRetentionResponse">;
type Name = (typeof CALL_FIELDS)[number]["name"];

const LABELS = { recordings_days: "Recordings", transcripts_days: "Transcripts", runs_days: "Runs" };

export function AgentRetention() {
  const { agent } = useEditorContext();
  const retention = useAgentRetention(agent.id);
  return (
    <Loaded query={retention} what="The retention settings" height={240}>
      {(data) => <RetentionForm retention={data} />}
    </Loaded>
  );
}

function RetentionForm({ retention }: { retention: Retention }) {
  const { agent } = useEditorContext();
  const { admin } = usePermissions();
  const save = useSaveAgentRetention(agent.id);
  const form = useForm<Record<Name, PeriodInput>>(
    {
      recordings_days: retention.recordings_days ?? "",
      transcripts_days: retention.transcripts_days ?? "",
      runs_days: retention.runs_days ?? "",
    },
    save.error,
    { labels: LABELS },
  );
  const saving = useSavingPeriods<Schema<"AgentRetentionUpdate">>(retention.applied, CALL_FIELDS, (next, done) =>
    save.mutate(next, { onSuccess: () => notifySuccess("Retention saved."), onSettled: done }),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.reset();
    const { recordings_days, transcripts_days, runs_days } = form.values;
    saving.submit({
      recordings_days: toDays(recordings_days),
      transcripts_days: toDays(transcripts_days),
      runs_days: toDays(runs_days),
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          If the organization has a shorter period, that one applies. Leave a field empty to use the organization’s.
          Earlier calls are deleted too.
        </Text>
        <PeriodFields
          fields={CALL_FIELDS}
          form={form}
          describe={({ name, description }) => `${description} ${describeApplied(retention, name)}`}
          placeholder="Organization default"
          size="sm"
          isDisabled={!admin}
        />
        <Text fz="sm" c="dimmed">
          {admin ? "Applies to all versions immediately, without publishing." : "Only admins can change this."}
        </Text>
        <FormProblem words={form.problem} />
        {admin && (
          <div>
            <Button type="submit" size="sm" loading={save.isPending}>
              Save retention
            </Button>
          </div>
        )}
      </Stack>
      <ShorterRetention
        deletions={saving.deletions}
        onClose={saving.cancel}
        onConfirm={saving.confirm}
        isBusy={save.isPending}
      />
    </form>
  );
}

/** What is in effect by what is stored, not by what is typed. */
function describeApplied(retention: Retention, name: Name): string {
  const applied = retention.applied[name];
  if (applied === null) return "In effect: no limit.";
  const days = pluralize(applied, "day");
  return applied === retention[name] ? `In effect: ${days}.` : `In effect: ${days}, set by the organization.`;
}
