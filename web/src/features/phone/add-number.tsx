/** A number that the account has already at its carrier. */

import { Select, TextInput } from "@mantine/core";
import { FormDialog } from "../../components/forms/dialog";
import { useForm } from "../../lib/ui/use-form";
import { useAgentChoices } from "../../lib/organization/agent-names";
import { notifySuccess, notifyError } from "../../lib/ui/notifications";
import { useAddNumber } from "./api";

export function AddNumber({ accountId, onClose }: { accountId: number; onClose: () => void }) {
  const add = useAddNumber(accountId);
  const agents = useAgentChoices();
  const form = useForm<{ address: string; label: string; inbound_workflow_id: string | null }>(
    { address: "", label: "", inbound_workflow_id: null },
    add.error,
    { labels: { address: "Number", inbound_workflow_id: "Answered by" } },
  );
  const { address, label, inbound_workflow_id: agent } = form.values;
  const submit = () =>
    add.mutate(
      { address, label: label === "" ? null : label, inbound_workflow_id: agent === null ? null : Number(agent) },
      {
        onSuccess: ({ address_normalized: number, provider_sync: sync }) => {
          if (sync && !sync.ok)
            notifyError(new Error(`${number} was added, but its calls do not reach this server yet: ${sync.message}`));
          else notifySuccess(`${number} added.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title="Add a number"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Add"
      isBusy={add.isPending}
      problem={form.problem}
    >
      <TextInput
        label="Number"
        description="A phone number, SIP address, or extension"
        placeholder="+12015550123"
        required
        data-autofocus
        {...form.text("address")}
      />
      <TextInput label="Label" {...form.text("label")} />
      <Select
        label="Answered by"
        placeholder="No agent"
        clearable
        searchable
        data={agents}
        {...form.field("inbound_workflow_id")}
      />
    </FormDialog>
  );
}
