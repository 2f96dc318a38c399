/** Makes an agent: from a template, the smallest one that works, or one that the language model writes. */

import { Button, Group, Modal, SegmentedControl, Stack, Text, TextInput, Textarea } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { Problem } from "../../components/feedback/problem";
import { fieldErrors, formError } from "../../lib/api/errors";
import { AgentImport } from "./agent-import";
import { useCreateAgent, useHasWritingModel, useWriteAgent } from "./api";
import { TemplateGallery } from "./template-gallery";

const FIELDS = ["use_case", "activity_description", "call_type"] as const;
const LABELS = { use_case: "Use case", activity_description: "What the agent does" };

type StartingPoint = "template" | "simple" | "described" | "file";

export function NewAgent({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [kind, setKind] = useState<StartingPoint>("template");
  const canDescribe = useHasWritingModel();
  const isNarrow = useMediaQuery("(max-width: 48em)");
  const open = useOpen();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title="New agent"
      // not centered: what is chosen at the top would move away when the templates arrive
      radius="lg"
      size={kind === "template" ? 900 : 500}
      fullScreen={isNarrow}
    >
      <Stack>
        <SegmentedControl<StartingPoint>
          aria-label="Starting point"
          value={kind}
          onChange={setKind}
          data={[
            { value: "template", label: "Template" },
            { value: "simple", label: "Simple agent" },
            ...(canDescribe ? [{ value: "described" as const, label: "From a description" }] : []),
            { value: "file", label: "From a file" },
          ]}
        />
        {kind === "template" && <TemplateGallery onCreated={open} />}
        {kind === "simple" && <Small onClose={onClose} />}
        {kind === "described" && <Described onClose={onClose} />}
        {kind === "file" && <AgentImport onOpen={open} onClose={onClose} />}
      </Stack>
    </Modal>
  );
}

function Small({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useCreateAgent();
  const open = useOpen();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate(name.trim(), { onSuccess: open });
  };
  const error = fieldErrors(create.error, ["name"]).name;
  const rest = formError(create.error, ["name"]);
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          placeholder="Front desk"
          data-autofocus
          required
          maxLength={200}
          value={name}
          error={error}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Text fz="sm" c="dimmed">
          Starts as a draft that greets the caller, asks what they need, and says goodbye.
        </Text>
        {rest !== null && <Problem error={create.error} />}
        <Buttons word="Create" isBusy={create.isPending} isOff={name.trim() === ""} onClose={onClose} />
      </Stack>
    </form>
  );
}

function Described({ onClose }: { onClose: () => void }) {
  const [values, setValues] = useState({ use_case: "", activity_description: "", call_type: "inbound" });
  const write = useWriteAgent();
  const open = useOpen();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    write.mutate(
      { ...values, call_type: values.call_type === "outbound" ? "outbound" : "inbound" },
      { onSuccess: open },
    );
  };
  const errors = fieldErrors(write.error, FIELDS, LABELS);
  const set = (name: keyof typeof values, value: string) => setValues({ ...values, [name]: value });
  return (
    <form onSubmit={submit}>
      <Stack>
        <SegmentedControl
          size="xs"
          aria-label="Call direction"
          value={values.call_type}
          onChange={(value) => set("call_type", value)}
          data={[
            { value: "inbound", label: "Answers calls" },
            { value: "outbound", label: "Places calls" },
          ]}
        />
        <TextInput
          label="Use case"
          placeholder="Appointments for a dental office"
          required
          maxLength={200}
          value={values.use_case}
          error={errors.use_case}
          onChange={(event) => set("use_case", event.currentTarget.value)}
        />
        <Textarea
          label="What the agent does"
          placeholder="Finds out whether the caller wants to book, reschedule, or cancel, agrees on a day and time, and confirms both."
          required
          autosize
          minRows={4}
          maxLength={8000}
          value={values.activity_description}
          error={errors.activity_description}
          onChange={(event) => set("activity_description", event.currentTarget.value)}
        />
        <Text fz="sm" c="dimmed">
          Your organization's language model drafts the steps.
        </Text>
        {formError(write.error, FIELDS, LABELS) !== null && <Problem error={write.error} />}
        <Buttons
          word="Generate"
          isBusy={write.isPending}
          isOff={values.use_case.trim() === "" || values.activity_description.trim() === ""}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}

function useOpen() {
  const navigate = useNavigate();
  return (agent: { id: number }) => void navigate({ to: "/agents/$agentId", params: { agentId: agent.id } });
}

function Buttons({
  word,
  isBusy,
  isOff,
  onClose,
}: {
  word: string;
  isBusy: boolean;
  isOff: boolean;
  onClose: () => void;
}) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      <Button type="submit" loading={isBusy} disabled={isOff}>
        {word}
      </Button>
    </Group>
  );
}
