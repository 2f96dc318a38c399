/** What is chosen on the canvas, to read and to change. */

import { Button, Group, Stack, Text } from "@mantine/core";
import { Copy, MousePointerClick, Trash2 } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { useEditorContext } from "../state/editor";
import { focusAfterRender, nodeElement } from "../state/focus-after-render";
import classes from "./form.module.css";
import { NodeForm } from "./node-form";
import { NoteForm } from "../notes/note-form";
import { notesOf } from "../../../graph/editing/notes";
import { pluralize } from "../../../lib/format/format";
import { useCanvasActions } from "../state/use-canvas-actions";
import { EdgeForm } from "./edge-form";

/** What is wrong comes first. */
const FIELDS = ["[aria-invalid=true]", "input:not([disabled]), textarea:not([disabled])"];

export function Inspector() {
  const { document, selection, form } = useEditorContext();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (form?.isFocused !== true) return;
    return focusAfterRender(
      () =>
        FIELDS.map((field) => box.current?.querySelector<HTMLElement>(field)).find((field) => field != null) ??
        box.current,
    );
  }, [form]);
  const chosen = [...selection.nodeIds, ...selection.edgeIds].join(" ");
  // Another form begins at its top, wherever the one before was.
  useEffect(() => {
    box.current?.parentElement?.scrollTo({ top: 0 });
  }, [chosen]);
  // Back to the canvas, unless Escape closes a list first.
  const press = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    // What opens beside the page is closed first, and its button has the focus again.
    if (
      event.key !== "Escape" ||
      target.getAttribute("aria-expanded") === "true" ||
      !event.currentTarget.contains(target)
    )
      return;
    const edge = document.definition.edges.find((edge) => edge.id === selection.edgeIds[0]);
    const id = selection.nodeIds[0] ?? edge?.source;
    if (id !== undefined) nodeElement(id)?.focus();
  };
  return (
    <div ref={box} tabIndex={-1} className={classes.inspector} onKeyDown={press}>
      <Chosen />
    </div>
  );
}

function Chosen() {
  const { document, selection, canEdit } = useEditorContext();
  const actions = useCanvasActions();
  const { nodeIds, edgeIds } = selection;
  const node = nodeIds.length === 1 ? document.definition.nodes.find((node) => node.id === nodeIds[0]) : undefined;
  const edge =
    nodeIds.length === 0 && edgeIds.length === 1
      ? document.definition.edges.find((edge) => edge.id === edgeIds[0])
      : undefined;
  const note = nodeIds.length === 1 ? notesOf(document.definition).find(({ id }) => id === nodeIds[0]) : undefined;
  if (note !== undefined) return <NoteForm key={note.id} note={note} />;
  if (node !== undefined) return <NodeForm key={node.id} node={node} />;
  if (edge !== undefined) return <EdgeForm key={edge.id} edge={edge} />;
  if (nodeIds.length + edgeIds.length > 1) {
    const notes = notesOf(document.definition).filter(({ id }) => nodeIds.includes(id)).length;
    const parts = [
      pluralize(nodeIds.length - notes, "step"),
      ...(notes > 0 ? [pluralize(notes, "note")] : []),
      pluralize(edgeIds.length, "transition"),
    ];
    return (
      <Stack className={classes.form} gap="sm">
        <Text fw={600}>{new Intl.ListFormat("en").format(parts)} selected</Text>
        {canEdit && (
          <Group gap={8}>
            <Button
              size="xs"
              variant="default"
              leftSection={<Copy size={14} />}
              onClick={() => actions.duplicate(nodeIds)}
            >
              Duplicate
            </Button>
            <Button
              size="xs"
              variant="light"
              color="red"
              leftSection={<Trash2 size={14} />}
              onClick={() => actions.remove(nodeIds, edgeIds)}
            >
              Remove
            </Button>
          </Group>
        )}
      </Stack>
    );
  }
  return (
    <div className={classes.nothing}>
      <MousePointerClick size={26} strokeWidth={1.5} />
      <Text fw={600}>Nothing selected</Text>
      <Text fz="sm" c="dimmed" ta="center" maw={270}>
        {canEdit
          ? "Select a step to edit what the agent does, or a line to edit the transition."
          : "Select a step or a line to view its details."}
      </Text>
    </div>
  );
}
