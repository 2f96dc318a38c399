/** Making and changing a webhook. */

import { MultiSelect, TextInput } from "@mantine/core";
import { FormDialog } from "../../../components/forms/dialog";
import type { Schema } from "../../../lib/api/types";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import { useSaveWebhook } from "./api";

type Webhook = Schema<"WebhookResponse">;
export type EventName = NonNullable<Schema<"WebhookCreate">["events"]>[number];

interface WebhookFormProps {
  webhook: Webhook | null;
  events: EventName[];
  onClose: () => void;
  onMade: (secret: string) => void;
}

export function WebhookForm({ webhook, events, onClose, onMade }: WebhookFormProps) {
  const save = useSaveWebhook(webhook?.id ?? null);
  const form = useForm(
    {
      url: webhook?.url ?? "",
      description: webhook?.description ?? "",
      events: (webhook?.events ?? []) as EventName[],
    },
    save.error,
    { labels: { url: "URL" } },
  );
  const { url, description, events: chosen } = form.values;
  const submit = () =>
    save.mutate(
      { url, events: chosen, description: description === "" ? null : description },
      {
        onSuccess: (answer) => {
          if ("secret" in answer) onMade(answer.secret);
          else notifySuccess("Webhook saved.");
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={webhook === null ? "New webhook" : "Edit webhook"}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit={webhook === null ? "Add webhook" : "Save"}
      isBusy={save.isPending}
      problem={form.problem}
    >
      <TextInput
        label="URL"
        placeholder="https://example.com/hooks/offhook"
        required
        data-autofocus
        {...form.text("url")}
      />
      <TextInput label="Description" {...form.text("description")} />
      <MultiSelect
        label="Events"
        placeholder={chosen.length === 0 ? "All events" : ""}
        data={events}
        clearable
        {...form.field("events")}
      />
    </FormDialog>
  );
}
