/** Making and changing a tool: the fields of its kind, each with what the API says of it. */

import { Button, Checkbox, Group, NumberInput, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { useForm } from "../../../lib/ui/use-form";
import { notifySuccess } from "../../../lib/ui/notifications";
import { type Tool, useCredentialChoices, useSaveTool, useTestDraft } from "./api";
import { CATEGORIES, definitionOf, draftOf, NEW_TOOL, RECORDING_ACTIONS, type ToolDraft } from "./tool-draft";
import { ToolImport } from "./import/tool-import";
import { Destinations, type Fields, Parameters, PLACES } from "./tool-lists";
import { ToolTrial } from "./tool-trial";

const LABELS = { url: "URL", timeout_ms: "Timeout", phone_number: "Number" };

export function ToolForm({ tool, onClose }: { tool: Tool | null; onClose: () => void }) {
  const save = useSaveTool(tool?.tool_uuid ?? null);
  const test = useTestDraft();
  const [isTrying, setIsTrying] = useState(false);
  // What was sent last is what the fields tell about.
  const form = useForm<ToolDraft>(tool === null ? NEW_TOOL : draftOf(tool), save.error ?? test.error, {
    places: PLACES,
    labels: LABELS,
  });
  const { name, description, category } = form.values;
  const definition = definitionOf(form.values, tool?.definition);
  const submit = () => {
    test.reset();
    save.mutate(
      { name, description: description === "" ? null : description, category, definition },
      {
        onSuccess: () => {
          notifySuccess(`“${name}” saved.`);
          onClose();
        },
      },
    );
  };
  const tryOut = (values: Record<string, string>) => {
    save.reset();
    test.mutate({ definition, values });
  };
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
        label="Type"
        allowDeselect={false}
        disabled={tool !== null}
        data={CATEGORIES}
        {...form.field("category")}
      />
      {tool === null && category === "http_api" && <Import form={form} />}
      <TextInput
        label="Name"
        description="The name that the agent uses"
        required
        data-autofocus
        {...form.text("name")}
      />
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
          <TextInput label="Server URL" required placeholder="https://example.com/mcp" {...form.text("url")} />
          <CredentialChoice form={form} />
        </>
      )}
      {category === "transfer_call" && <Destinations form={form} />}
      {category === "recording" && (
        <Select label="Action" allowDeselect={false} data={RECORDING_ACTIONS} {...form.field("action")} />
      )}
      {category !== "mcp" && category !== "calculator" && (
        <Textarea
          label="Spoken before it runs"
          description="Leave empty to say nothing"
          autosize
          minRows={1}
          {...form.text("message")}
        />
      )}
      {category === "http_api" && (
        <div>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={isTrying}
            onClick={() => setIsTrying((before) => !before)}
          >
            Try it
          </Button>
        </div>
      )}
      {category === "http_api" && isTrying && (
        <Stack component="section" gap="md" aria-label="Try it">
          <Text fz="sm" c="dimmed">
            Sends a real request with what is entered above. Nothing is saved.
          </Text>
          <ToolTrial
            parameters={form.values.parameters.filter((one) => one.name !== "")}
            isBusy={test.isPending}
            answer={test.data}
            onSend={tryOut}
          />
        </Stack>
      )}
    </FormDialog>
  );
}

function Import({ form }: { form: Fields }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <div>
        <Button
          size="compact-sm"
          variant="subtle"
          aria-expanded={isOpen}
          onClick={() => setIsOpen((before) => !before)}
        >
          Import from cURL or OpenAPI
        </Button>
      </div>
      {isOpen && <ToolImport onFill={(part) => form.reset({ ...form.values, ...part })} />}
    </>
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
        <TextInput label="URL" required placeholder="https://example.com/orders/{{order_id}}" {...form.text("url")} />
      </Group>
      <Parameters form={form} />
      <Textarea
        label="Headers"
        description="Name: value, one per line. Put secrets in a credential."
        autosize
        minRows={1}
        {...form.text("headers")}
      />
      <Group align="flex-start" grow>
        <CredentialChoice form={form} />
        <NumberInput label="Timeout (ms)" clampBehavior="none" min={1} max={30_000} {...form.field("timeout")} />
      </Group>
      <Checkbox label="Has side effects (never retried or interrupted)" {...form.check("hasSideEffects")} />
    </>
  );
}
