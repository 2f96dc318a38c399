import { ReactFlowProvider } from "@xyflow/react";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { type Definition, parse } from "../../../graph/definition";
import type { NodeSpec } from "../../../graph/specs";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import { EmptyCanvas } from "./empty-canvas";

const START = { name: "startCall", display_name: "Start Call", properties: [] } as unknown as NodeSpec;

interface Document {
  definition: Definition;
}

async function renderHint(canEdit: boolean) {
  const changed: Document[] = [];
  const before: Document = { definition: parse({ nodes: [], edges: [] }) };
  const editor = {
    document: before,
    selection: { nodeIds: [], edgeIds: [] },
    specs: new Map([["startCall", START]]),
    canEdit,
    change: (edit: (document: Document) => Document) => changed.push(edit(before)),
    select: () => undefined,
    reveal: () => undefined,
  } as unknown as Editor;
  const part = (
    <EditorProvider value={editor}>
      <ReactFlowProvider>
        <EmptyCanvas />
      </ReactFlowProvider>
    </EditorProvider>
  );
  return { ...(await renderPart(part)), changed };
}

it("adds the first step, and leads to the templates", async () => {
  const { user, changed } = await renderHint(true);
  await user.click(await screen.findByRole("button", { name: "Add start step" }));
  expect(changed[0]?.definition.nodes).toMatchObject([{ type: "startCall", data: { name: "Start Call" } }]);
  expect(screen.getByRole("link", { name: "create an agent from a template" }).getAttribute("href")).toContain(
    "create=true",
  );
});

it("offers nothing to change to those who only look", async () => {
  await renderHint(false);
  expect(await screen.findByText("No steps yet")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});
