import { ReactFlowProvider } from "@xyflow/react";
import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { addNote } from "../../../graph/editing/notes";
import { GRAPH, SPECS } from "../../../graph/graph.fixture";
import { renderPart } from "../../../testing/render";
import { flowItems } from "../canvas/flow-items";
import { type Editor, EditorProvider } from "../state/editor";
import { type Document } from "../api";
import { all, opened, reduce } from "../state/editor-state";
import { NoteForm } from "./note-form";

const { definition, note } = addNote(GRAPH, { x: 0, y: 0 });

function inspect(canEdit = true) {
  const changes: Document[] = [];
  const document = { definition, settings: {}, variables: {} } as unknown as Document;
  const editor = {
    canEdit,
    specs: SPECS,
    document,
    selection: { nodeIds: [note.id], edgeIds: [] },
    form: null,
    change: (next: (before: Document) => Document) => changes.push(next(document)),
  } as unknown as Editor;
  const part = renderPart(
    <ReactFlowProvider>
      <EditorProvider value={editor}>
        <NoteForm note={note} />
      </EditorProvider>
    </ReactFlowProvider>,
  );
  return { part, changes };
}

it("writes, colors and resizes the chosen note", async () => {
  const { part, changes } = inspect();
  const { user } = await part;
  fireEvent.change(await screen.findByRole("textbox", { name: "Text" }), { target: { value: "H" } });
  expect(changes.at(-1)?.definition.notes?.[0]).toMatchObject({ text: "H" });
  await user.click(screen.getByRole("radio", { name: "Blue" }));
  expect(changes.at(-1)?.definition.notes?.[0]).toMatchObject({ color: "blue" });
  fireEvent.change(screen.getByRole("textbox", { name: "Width" }), { target: { value: "225" } });
  expect(changes.at(-1)?.definition.notes?.[0]).toMatchObject({ width: 225 });
  fireEvent.change(screen.getByRole("textbox", { name: "Width" }), { target: { value: "2" } });
  expect(changes.at(-1)?.definition.notes?.[0]).toMatchObject({ width: 225 });
  await user.click(screen.getByRole("button", { name: "Remove" }));
  expect(changes.at(-1)?.definition.notes).toEqual([]);
});

it("shows a note to those who may not edit", async () => {
  await inspect(false).part;
  expect((await screen.findByRole("textbox", { name: "Text" })).hasAttribute("disabled")).toBe(true);
  expect(screen.queryByRole("button", { name: "Remove" })).toBeNull();
});

it("is drawn behind steps, keeps its object while nothing changes, and stays chosen", () => {
  const selection = all(definition);
  const drawn = flowItems([], definition, selection, SPECS, true);
  expect(drawn.map((item) => [item.type, item.id]).slice(0, 2)).toEqual([
    ["note", note.id],
    ["node", "s"],
  ]);
  expect(drawn[0]?.style?.zIndex).toBeLessThan(0);
  expect(flowItems(drawn, definition, selection, SPECS, true)).toBe(drawn);
  const document = { definition } as unknown as Document;
  const state = reduce(reduce(opened(document), { type: "selected", selection }), {
    type: "changed",
    next: (before) => ({ ...before }),
    tag: "",
    at: 0,
  });
  expect(state.selection.nodeIds).toContain(note.id);
});
