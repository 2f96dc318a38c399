/** The form of the selected note: its text, color and size. */

import { Group, NumberInput, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { StickyNote } from "lucide-react";
import { NOTE_SIDES, type Note } from "../../../graph/definition";
import { MAX_CHARACTERS, NOTE_COLORS, colorOf, setNote } from "../../../graph/editing/notes";
import classes from "../forms/form.module.css";
import { ItemActions } from "../forms/item-actions";
import { useEditorContext } from "../state/editor";

const SIDES = [
  { name: "width", label: "Width" },
  { name: "height", label: "Height" },
] as const;
const COLORS = NOTE_COLORS.map((color) => ({
  value: color,
  label: `${color.charAt(0).toUpperCase()}${color.slice(1)}`,
}));

export function NoteForm({ note }: { note: Note }) {
  const { canEdit, change } = useEditorContext();
  const set = (patch: Partial<Note>) =>
    change(
      (doc) => ({ ...doc, definition: setNote(doc.definition, note.id, patch) }),
      `note ${note.id} ${Object.keys(patch).join(" ")}`,
    );
  return (
    <Stack gap="md" className={classes.form}>
      <Group gap={10} wrap="nowrap">
        <StickyNote size={20} aria-hidden="true" />
        <div>
          <Text fw={600} lh={1.2}>
            Note
          </Text>
          <Text fz="xs" c="dimmed" lh={1.35}>
            For people who edit this agent. Calls and checks ignore it.
          </Text>
        </div>
      </Group>
      <Textarea
        label="Text"
        autosize
        minRows={4}
        maxRows={16}
        maxLength={MAX_CHARACTERS}
        disabled={!canEdit}
        value={note.text}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <div>
        <Text component="div" fz="sm" fw={600} mb={6}>
          Color
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Color"
          data={COLORS}
          value={colorOf(note)}
          disabled={!canEdit}
          onChange={(color) => set({ color })}
        />
      </div>
      <Group gap="md">
        {SIDES.map(({ name, label }) => (
          <NumberInput
            key={name}
            label={label}
            w={110}
            min={NOTE_SIDES.least}
            max={NOTE_SIDES.most}
            step={20}
            allowDecimal={false}
            disabled={!canEdit}
            value={note[name]}
            onChange={(side) => {
              if (typeof side === "number" && side >= NOTE_SIDES.least && side <= NOTE_SIDES.most)
                set({ [name]: side });
            }}
          />
        ))}
      </Group>
      <ItemActions id={note.id} />
    </Stack>
  );
}
