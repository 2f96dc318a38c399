/** The form of the chosen way: its name for the model, when it is taken, which keys take it, what is said on it. */

import {
  Alert,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  TextInput,
  Textarea,
  UnstyledButton,
} from "@mantine/core";
import { ArrowRight, Trash2 } from "lucide-react";
import { type Way, digitsOf, stepName, text, wayLabel } from "../../../graph/definition";
import { reconnect, setWayData } from "../../../graph/editing/edit";
import { besides, problemAt } from "../../../graph/problems";
import { canConnect } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { NARROW, words } from "./fields";
import classes from "./form.module.css";
import { RecordingField } from "./reference-fields";
import { useCanvasActions } from "../state/use-canvas-actions";

const FIELDS = ["label", "condition", "digits", "examples", "transition_speech", "transition_speech_recording_id"];

export function WayForm({ way }: { way: Way }) {
  const { document, specs, canEdit, findings, change, reveal } = useEditorContext();
  const actions = useCanvasActions();
  const found = findings.byWay.get(way.id) ?? [];
  const set = (name: string, value: unknown) =>
    change(
      (doc) => ({
        ...doc,
        definition: setWayData(doc.definition, way.id, {
          [name]: value === "" && name !== "label" && name !== "condition" ? undefined : value,
        }),
      }),
      `way ${way.id} ${name}`,
    );
  const ends = [way.source, way.target].map((id) => document.definition.nodes.find((node) => node.id === id));
  return (
    <Stack gap="md" className={classes.form} key={way.id}>
      <Group gap={6} wrap="nowrap">
        {ends.map((step, index) => (
          <Group key={index} gap={6} wrap="nowrap" miw={0}>
            {index === 1 && <ArrowRight size={15} aria-label="leads to" />}
            <UnstyledButton
              className={classes.end}
              onClick={() => step && reveal({ stepIds: [step.id], wayIds: [] }, "form")}
            >
              {step === undefined ? "nowhere" : stepName(step)}
            </UnstyledButton>
          </Group>
        ))}
      </Group>
      {besides(found, FIELDS).map((finding, index) => (
        <Alert key={index} role="note" color={finding.isError ? "red" : "yellow"} variant="light" p="xs">
          {finding.message}
        </Alert>
      ))}
      <TextInput
        label="Label"
        description="Short name: shown on the canvas, and the name of the function by which the model goes this way."
        withAsterisk
        disabled={!canEdit}
        value={wayLabel(way)}
        error={problemAt(found, "label")}
        onChange={(event) => set("label", event.currentTarget.value)}
      />
      <Textarea
        label="Condition"
        description="When the conversation goes this way, in your words."
        placeholder="The caller has agreed to a day."
        autosize
        minRows={3}
        maxRows={10}
        disabled={!canEdit}
        value={text(way.data["condition"])}
        error={problemAt(found, "condition")}
        onChange={(event) => set("condition", event.currentTarget.value)}
      />
      <TextInput
        label="Keys"
        description="Digits on the keypad that go this way. With keys, no condition is needed."
        placeholder="1"
        styles={NARROW}
        disabled={!canEdit}
        value={digitsOf(way)}
        error={problemAt(found, "digits")}
        onChange={(event) => set("digits", event.currentTarget.value)}
      />
      <TagsInput
        label="Example phrases"
        description="What a caller may say to go this way: helps speech recognition and the offline model."
        placeholder="Write one, press Enter"
        splitChars={["\n"]}
        disabled={!canEdit}
        value={words(way.data["examples"])}
        error={problemAt(found, "examples")}
        onChange={(next) => set("examples", next.length === 0 ? undefined : next)}
      />
      <Transition way={way} set={set} />
      {canEdit && (
        <Select
          label="Leads to"
          searchable
          allowDeselect={false}
          data={document.definition.nodes
            .filter((node) => node.id === way.target || canConnect(specs, document.definition, way.source, node.id))
            .map((node) => ({ value: node.id, label: stepName(node) }))}
          value={way.target}
          onChange={(id) =>
            id !== null && change((doc) => ({ ...doc, definition: reconnect(doc.definition, way.id, way.source, id) }))
          }
        />
      )}
      {canEdit && (
        <Button
          size="xs"
          variant="light"
          color="red"
          leftSection={<Trash2 size={14} />}
          w="max-content"
          onClick={() => actions.remove([], [way.id])}
        >
          Remove
        </Button>
      )}
    </Stack>
  );
}

function Transition({ way, set }: { way: Way; set: (name: string, value: unknown) => void }) {
  const { canEdit, findings } = useEditorContext();
  const found = findings.byWay.get(way.id) ?? [];
  const isAudio = way.data["transition_speech_type"] === "audio";
  const common = {
    label: "Said on the way",
    description: "Spoken while the next step gets ready.",
    disabled: !canEdit,
    withAsterisk: false,
  };
  return (
    <Stack gap={6}>
      {isAudio ? (
        <RecordingField
          property={{
            name: "transition_speech_recording_id",
            type: "recording_ref",
            display_name: common.label,
            description: common.description,
            required: false,
          }}
          value={way.data["transition_speech_recording_id"]}
          error={problemAt(found, "transition_speech_recording_id")}
          isOff={!canEdit}
          errorAt={() => undefined}
          common={{ ...common, error: problemAt(found, "transition_speech_recording_id") }}
          onChange={(next) => set("transition_speech_recording_id", next)}
        />
      ) : (
        <Textarea
          {...common}
          autosize
          minRows={1}
          maxRows={5}
          placeholder="One moment please."
          value={text(way.data["transition_speech"])}
          error={problemAt(found, "transition_speech")}
          onChange={(event) => set("transition_speech", event.currentTarget.value)}
        />
      )}
      <SegmentedControl
        size="xs"
        w="max-content"
        aria-label="How it is said"
        disabled={!canEdit}
        value={isAudio ? "audio" : "text"}
        data={[
          { value: "text", label: "Text" },
          { value: "audio", label: "Recording" },
        ]}
        onChange={(kind) => set("transition_speech_type", kind === "audio" ? "audio" : undefined)}
      />
    </Stack>
  );
}
