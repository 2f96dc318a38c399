/** Making and changing a tool: the fields of its kind, each with what the API says of it. */

import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { Trash2 } from "lucide-react";
import { FormDialog } from "../../components/dialog";
import { useForm } from "../../lib/form";
import { done } from "../../lib/notice";
import { type Tool, useCredentialChoices, useSaveTool } from "./api_tools";
import { CATEGORIES, definitionOf, draftOf, NEW_TOOL, type Parameter, type Place, type ToolDraft } from "./tool_draft";

const PLACES = {
  url: "definition.config.url",
  method: "definition.config.method",
  headers: "definition.config.headers",
  credential: "definition.config.credential_uuid",
  timeout: "definition.config.timeout_ms",
  parameters: "definition.config.parameters",
  message: "definition.config.customMessage",
  destinations: "definition.config.destinations",
} as const;

type Fields = ReturnType<typeof useForm<ToolDraft>>;

export function ToolForm({ tool, onClose }: { tool: Tool | null; onClose: () => void }) {
  const save = useSaveTool(tool?.tool_uuid ?? null);
  const form = useForm<ToolDraft>(tool === null ? NEW_TOOL : draftOf(tool), save.error, PLACES);
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
          done(`“${name}” is saved.`);
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

function Parameters({ form }: { form: Fields }) {
  const list = form.values.parameters;
  const set = (next: Parameter[]) => form.set("parameters", next);
  const change = (index: number, part: Partial<Parameter>) =>
    set(list.map((old, at) => (at === index ? { ...old, ...part } : old)));
  return (
    <Stack gap={8}>
      <Text fz="sm" fw={500}>
        Arguments that the agent fills in
      </Text>
      {list.map((parameter, index) => (
        <Group key={index} gap={8} wrap="nowrap">
          <TextInput
            aria-label={`Name of argument ${index + 1}`}
            placeholder="order_id"
            value={parameter.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
            w={150}
          />
          <Select
            aria-label={`Type of argument ${index + 1}`}
            allowDeselect={false}
            data={["string", "number", "boolean", "object", "array"]}
            value={parameter.type}
            onChange={(type) => change(index, { type: type ?? "string" })}
            w={120}
          />
          <TextInput
            aria-label={`Meaning of argument ${index + 1}`}
            placeholder="What it is"
            value={parameter.description}
            onChange={(event) => change(index, { description: event.currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Remove label={`Remove argument ${index + 1}`} onClick={() => set(list.filter((_, at) => at !== index))} />
        </Group>
      ))}
      <FieldError words={form.errorAt(PLACES.parameters)} />
      <div>
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => set([...list, { name: "", type: "string", description: "", required: true }])}
        >
          Add an argument
        </Button>
      </div>
    </Stack>
  );
}

function Destinations({ form }: { form: Fields }) {
  const list = form.values.destinations;
  const set = (next: Place[]) => form.set("destinations", next);
  const change = (index: number, part: Partial<Place>) =>
    set(list.map((old, at) => (at === index ? { ...old, ...part } : old)));
  return (
    <Stack gap={8}>
      <Text fz="sm" fw={500}>
        Where a call may go; nothing that a caller says becomes a dialled number
      </Text>
      {list.map((place, index) => (
        <Group key={index} gap={8} wrap="nowrap">
          <TextInput
            aria-label={`Name of place ${index + 1}`}
            placeholder="billing"
            value={place.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
            w={150}
          />
          <TextInput
            aria-label={`Number of place ${index + 1}`}
            placeholder="+12015550123"
            value={place.phone_number}
            onChange={(event) => change(index, { phone_number: event.currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Remove label={`Remove place ${index + 1}`} onClick={() => set(list.filter((_, at) => at !== index))} />
        </Group>
      ))}
      <FieldError words={form.errorAt(PLACES.destinations)} />
      <div>
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => set([...list, { name: "", phone_number: "", description: "" }])}
        >
          Add a place
        </Button>
      </div>
    </Stack>
  );
}

function Remove({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon variant="subtle" color="red" aria-label={label} onClick={onClick}>
      <Trash2 size={16} />
    </ActionIcon>
  );
}

function FieldError({ words }: { words: string | undefined }) {
  return words === undefined ? null : (
    <Text fz="sm" c="red" role="alert">
      {words}
    </Text>
  );
}
