/** How long this agent's calls are kept. It belongs to the agent and applies at once, unlike other settings. */

import { Button, NumberInput, Stack, Text } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import { useEditorContext } from "../state/editor";
import { useAgentRetention, useSaveAgentRetention } from "./retention-api";

type Retention = Schema<"AgentRetentionResponse">;
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
] as const;

type Name = (typeof FIELDS)[number]["name"];

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
  const form = useForm<Record<Name, Days>>(
    {
      recordings_days: retention.recordings_days ?? "",
      transcripts_days: retention.transcripts_days ?? "",
      runs_days: retention.runs_days ?? "",
    },
    save.error,
    { labels: { recordings_days: "Recordings", transcripts_days: "Transcripts", runs_days: "Runs" } },
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { recordings_days, transcripts_days, runs_days } = form.values;
    save.mutate(
      {
        recordings_days: toDays(recordings_days),
        transcripts_days: toDays(transcripts_days),
        runs_days: toDays(runs_days),
      },
      { onSuccess: () => notifySuccess("Retention saved.") },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          If the organization has a shorter period, that one applies. Leave a field empty to use the organization’s.
          Earlier calls are deleted too.
        </Text>
        {FIELDS.map(({ name, label, description }) => (
          <NumberInput
            key={name}
            size="sm"
            label={label}
            description={`${description} ${describeApplied(retention, name)}`}
            placeholder="Organization default"
            suffix=" days"
            min={1}
            max={3650}
            allowDecimal={false}
            disabled={!admin}
            {...form.field(name)}
          />
        ))}
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

function toDays(value: Days): number | null {
  return value === "" ? null : value;
}
