/** The form of the chosen edge: its name for the model, when it is taken, which keys take it, what is said on it. */

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
import { type GraphEdge, digitsOf, nodeName, text, edgeLabel } from "../../../graph/definition";
import { setEdgeData } from "../../../graph/editing/edit";
import { issuesBeside, issueAt } from "../../../graph/validation-issues";
import { canConnect } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { NARROW, words } from "./fields";
import classes from "./form.module.css";
import { RecordingField } from "./reference-fields";
import { useCanvasActions } from "../state/use-canvas-actions";

const FIELDS = ["label", "condition", "digits", "examples", "transition_speech", "transition_speech_recording_id"];

export function EdgeForm({ edge }: { edge: GraphEdge }) {
  const { document, specs, canEdit, validationIssues, change, reveal } = useEditorContext();
  const actions = useCanvasActions();
  const found = validationIssues.byEdge.get(edge.id) ?? [];
  const set = (name: string, value: unknown) =>
    change(
      (doc) => ({
        ...doc,
        definition: setEdgeData(doc.definition, edge.id, {
          [name]: value === "" && name !== "label" && name !== "condition" ? undefined : value,
        }),
      }),
      `edge ${edge.id} ${name}`,
    );
  const ends = [edge.source, edge.target].map((id) => document.definition.nodes.find((node) => node.id === id));
  return (
    <Stack gap="md" className={classes.form} key={edge.id}>
      <Group gap={6} wrap="nowrap">
        {ends.map((node, index) => (
          <Group key={index} gap={6} wrap="nowrap" miw={0}>
            {index === 1 && <ArrowRight size={15} aria-label="leads to" />}
            <UnstyledButton
              className={classes.end}
              onClick={() => node && reveal({ nodeIds: [node.id], edgeIds: [] }, "form")}
            >
              {node === undefined ? "nowhere" : nodeName(node)}
            </UnstyledButton>
          </Group>
        ))}
      </Group>
      {issuesBeside(found, FIELDS).map((issue, index) => (
        <Alert key={index} role="note" color={issue.isError ? "red" : "yellow"} variant="light" p="xs">
          {issue.message}
        </Alert>
      ))}
      <TextInput
        label="Label"
        description="Shown on the canvas. Also names the function that the model calls to take this transition."
        withAsterisk
        disabled={!canEdit}
        value={edgeLabel(edge)}
        error={issueAt(found, "label")}
        onChange={(event) => set("label", event.currentTarget.value)}
      />
      <Textarea
        label="Condition"
        description="When to take this transition, in your own words."
        placeholder="The caller has agreed to a day."
        autosize
        minRows={3}
        maxRows={10}
        disabled={!canEdit}
        value={text(edge.data["condition"])}
        error={issueAt(found, "condition")}
        onChange={(event) => set("condition", event.currentTarget.value)}
      />
      <TextInput
        label="Keys"
        description="Keypad digits that take this transition. With keys, no condition is needed."
        placeholder="1"
        styles={NARROW}
        disabled={!canEdit}
        value={digitsOf(edge)}
        error={issueAt(found, "digits")}
        onChange={(event) => set("digits", event.currentTarget.value)}
      />
      <TagsInput
        label="Example phrases"
        description="What a caller might say. Helps speech recognition and the offline model."
        placeholder="Type and press Enter"
        splitChars={["\n"]}
        disabled={!canEdit}
        value={words(edge.data["examples"])}
        error={issueAt(found, "examples")}
        onChange={(next) => set("examples", next.length === 0 ? undefined : next)}
      />
      <Transition edge={edge} set={set} />
      {canEdit && (
        <Select
          label="Next step"
          searchable
          allowDeselect={false}
          data={document.definition.nodes
            .filter((node) => node.id === edge.target || canConnect(specs, document.definition, edge.source, node.id))
            .map((node) => ({ value: node.id, label: nodeName(node) }))}
          value={edge.target}
          onChange={(id) => id !== null && actions.reconnect(edge.id, edge.source, id)}
        />
      )}
      {canEdit && (
        <Button
          size="xs"
          variant="light"
          color="red"
          leftSection={<Trash2 size={14} />}
          w="max-content"
          onClick={() => actions.remove([], [edge.id])}
        >
          Remove
        </Button>
      )}
    </Stack>
  );
}

function Transition({ edge, set }: { edge: GraphEdge; set: (name: string, value: unknown) => void }) {
  const { canEdit, validationIssues } = useEditorContext();
  const found = validationIssues.byEdge.get(edge.id) ?? [];
  const isAudio = edge.data["transition_speech_type"] === "audio";
  const common = {
    label: "Transition message",
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
          value={edge.data["transition_speech_recording_id"]}
          error={issueAt(found, "transition_speech_recording_id")}
          isOff={!canEdit}
          errorAt={() => undefined}
          common={{ ...common, error: issueAt(found, "transition_speech_recording_id") }}
          onChange={(next) => set("transition_speech_recording_id", next)}
        />
      ) : (
        <Textarea
          {...common}
          autosize
          minRows={1}
          maxRows={5}
          placeholder="One moment, please."
          value={text(edge.data["transition_speech"])}
          error={issueAt(found, "transition_speech")}
          onChange={(event) => set("transition_speech", event.currentTarget.value)}
        />
      )}
      <SegmentedControl
        size="xs"
        w="max-content"
        aria-label="Message type"
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
