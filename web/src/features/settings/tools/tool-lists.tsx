/** The lists in a tool's form: the arguments of a request, and the places that a call may be transferred to. */

import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import type { Form } from "../../../lib/ui/use-form";
import type { Parameter, Place, ToolDraft } from "./tool-draft";

export const PLACES = {
  url: "definition.config.url",
  method: "definition.config.method",
  headers: "definition.config.headers",
  credential: "definition.config.credential_uuid",
  timeout: "definition.config.timeout_ms",
  parameters: "definition.config.parameters",
  message: "definition.config.customMessage",
  destinations: "definition.config.destinations",
} as const;

const TYPES = [
  { value: "string", label: "Text" },
  { value: "number", label: "Number" },
  { value: "boolean", label: "Yes or no" },
  { value: "object", label: "Object" },
  { value: "array", label: "List" },
];

export type Fields = Form<ToolDraft>;

export function Parameters({ form }: { form: Fields }) {
  const list = form.values.parameters;
  const set = (next: Parameter[]) => form.set("parameters", next);
  const change = (index: number, part: Partial<Parameter>) =>
    set(list.map((old, at) => (at === index ? { ...old, ...part } : old)));
  return (
    <Stack gap={8}>
      <Text fz="sm" fw={600}>
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
            data={TYPES}
            value={parameter.type}
            onChange={(type) => change(index, { type: type ?? "string" })}
            w={120}
          />
          <TextInput
            aria-label={`Meaning of argument ${index + 1}`}
            placeholder="What it means"
            value={parameter.description}
            onChange={(event) => change(index, { description: event.currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Remove label={`Remove argument ${index + 1}`} onClick={() => set(list.filter((_, at) => at !== index))} />
        </Group>
      ))}
      <FieldError words={argumentError(form.errorAt(PLACES.parameters), list)} />
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

/** The API says of one of them that its name is not valid: which one, and what would be. */
function argumentError(refusal: string | undefined, list: readonly Parameter[]): string | undefined {
  const at = list.findIndex(({ name }) => !/^[A-Za-z_]\w{0,63}$/.test(name));
  if (refusal === undefined || at === -1) return refusal;
  const subject = list[at]?.name === "" ? `Argument ${at + 1} has no name.` : `“${list[at]?.name}” is no name for one.`;
  return `${subject} Use letters, digits, and underscores, as in order_id.`;
}

export function Destinations({ form }: { form: Fields }) {
  const list = form.values.destinations;
  const set = (next: Place[]) => form.set("destinations", next);
  const change = (index: number, part: Partial<Place>) =>
    set(list.map((old, at) => (at === index ? { ...old, ...part } : old)));
  return (
    <Stack gap={8}>
      <Text fz="sm" fw={600}>
        Transfer destinations. Only these numbers are ever dialed.
      </Text>
      {list.map((place, index) => (
        <Group key={index} gap={8} wrap="nowrap">
          <TextInput
            aria-label={`Destination name ${index + 1}`}
            placeholder="billing"
            value={place.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
            w={150}
          />
          <TextInput
            aria-label={`Destination number ${index + 1}`}
            placeholder="+12015550123"
            value={place.phone_number}
            onChange={(event) => change(index, { phone_number: event.currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Remove label={`Remove destination ${index + 1}`} onClick={() => set(list.filter((_, at) => at !== index))} />
        </Group>
      ))}
      <FieldError words={form.errorAt(PLACES.destinations)} />
      <div>
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => set([...list, { name: "", phone_number: "", description: "" }])}
        >
          Add a destination
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
