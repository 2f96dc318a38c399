/** Making and changing a tool: the fields of its kind, each with what the API says of it. */

import { Checkbox, Group, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { FormDialog } from "../../../components/forms/dialog";
import { useForm } from "../../../lib/ui/use-form";
import { notifySuccess } from "../../../lib/ui/notifications";
import { type Tool, useCredentialChoices, useSaveTool } from "./api";
import { CATEGORIES, definitionOf, draftOf, NEW_TOOL, type ToolDraft } from "./tool-draft";
import { Destinations, type Fields, Parameters, PLACES } from "./tool-lists";

const LABELS = { url: "Address", timeout_ms: "Longest wait", phone_number: "Number" };

export function ToolForm({ tool, onClose }: { tool: Tool | null; onClose: () => void }) {
  const save = useSaveTool(tool?.tool_uuid ?? null);
  const form = useForm<ToolDraft>(tool === null ? NEW_TOOL : draftOf(tool), save.error, {
    places: PLACES,
    labels: LABELS,
  });
  const { name, description, category } = form.values;
  const submit = () =>
    save.mutate(
      {
        name,
        description: description === "" ? null : description,
        category,
        definition: definitionOf(form.values, tool?.definition),
      },
      {
        onSuccess: () => {
          notifySuccess(`“${name}” is saved.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={tool === null ? "New tool" : "Edit tool"}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Save"
      isBusy={save.isPending}
      problem={form.problem}
      size="lg"
    >
      <Select
        label="Kind"
        allowDeselect={false}
        disabled={tool !== null}
        data={CATEGORIES}
        {...form.field("category")}
      />
      <TextInput label="Name" description="What the agent knows it by" required data-autofocus {...form.text("name")} />
      <Textarea
        label="Description"
        description="When the agent should use it"
        autosize
        minRows={2}
        {...form.text("description")}
      />
      {category === "http_api" && <HttpFields form={form} />}
      {category === "mcp" && (
        <>
          <TextInput
            label="Address of the server"
            required
            placeholder="https://example.com/mcp"
            {...form.text("url")}
          />
          <CredentialChoice form={form} />
        </>
      )}
      {category === "transfer_call" && <Destinations form={form} />}
      {(category === "transfer_call" || category === "end_call" || category === "http_api") && (
        <Textarea label="Said before it" description="Empty: nothing" autosize minRows={1} {...form.text("message")} />
      )}
    </FormDialog>
  );
}

function CredentialChoice({ form }: { form: Fields }) {
  const credentials = useCredentialChoices();
  return (
    <Select
      label="Credential"
      placeholder="None"
      clearable
      data={(credentials.data ?? []).map((one) => ({ value: one.uuid, label: one.name }))}
      {...form.field("credential")}
    />
  );
}

function HttpFields({ form }: { form: Fields }) {
  return (
    <>
      <Group align="flex-start" grow preventGrowOverflow={false} wrap="nowrap">
        <Select
          label="Method"
          allowDeselect={false}
          data={["GET", "POST", "PUT", "PATCH", "DELETE"]}
          maw={120}
          {...form.field("method")}
        />
        <TextInput
          label="Address"
          required
          placeholder="https://example.com/orders/{{order_id}}"
          {...form.text("url")}
        />
      </Group>
      <Parameters form={form} />
      <Textarea
        label="Headers"
        description="Name: value, one in each line. Secrets belong into a credential."
        autosize
        minRows={1}
        {...form.text("headers")}
      />
      <Group align="flex-start" grow>
        <CredentialChoice form={form} />
        <NumberInput label="Longest wait, ms" min={1} max={30_000} {...form.field("timeout")} />
      </Group>
      <Checkbox
        label="It changes something (it is never repeated, and never cut off by an interruption)"
        {...form.check("hasSideEffects")}
      />
    </>
  );
}
