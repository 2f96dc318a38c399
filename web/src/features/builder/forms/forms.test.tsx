import { ReactFlowProvider } from "@xyflow/react";
import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { NodeSpec } from "../../../graph/specs";
import { type ApiIssue, groupIssues } from "../../../graph/validation-issues";
import { renderPart } from "../../../testing/render";
import type { Document } from "../api";
import { type Editor, EditorProvider } from "../state/editor";
import { EdgeForm } from "./edge-form";
import { NodeForm } from "./node-form";

const SPECS = new Map([
  [
    "agentNode",
    {
      name: "agentNode",
      display_name: "Agent",
      description: "Talks.",
      category: "call_node",
      icon: "Box",
      properties: [
        { name: "name", type: "string", display_name: "Name", description: "", required: true },
        { name: "limit", type: "number", display_name: "Limit", description: "", required: false },
      ],
      graph_constraints: {},
    } as unknown as NodeSpec,
  ],
]);
const DOCUMENT = {
  definition: parse({
    nodes: [
      { id: "a", type: "agentNode", data: { name: "Ask" } },
      { id: "b", type: "agentNode", data: { name: "Bye" } },
    ],
    edges: [{ id: "e", source: "a", target: "b", data: { label: "done", condition: "" } }],
  }),
} as unknown as Document;

const seen: { document: Document } = { document: DOCUMENT };

function Form({ of, issues = [], canEdit = true }: { of: "a" | "e"; issues?: ApiIssue[]; canEdit?: boolean }) {
  const [document, setDocument] = useState(DOCUMENT);
  seen.document = document;
  const editor = {
    document,
    specs: SPECS,
    canEdit,
    selection: { nodeIds: [], edgeIds: [] },
    validationIssues: groupIssues(issues, []),
    change: (next: (before: Document) => Document) => setDocument(next),
  } as unknown as Editor;
  const node = document.definition.nodes.find(({ id }) => id === of);
  const edge = document.definition.edges.find(({ id }) => id === of);
  return (
    <ReactFlowProvider>
      <EditorProvider value={editor}>
        {node && <NodeForm node={node} />}
        {edge && <EdgeForm edge={edge} />}
      </EditorProvider>
    </ReactFlowProvider>
  );
}
const issue = (kind: "node" | "edge", id: string, field: string): ApiIssue => ({
  kind,
  id,
  field,
  code: "x",
  message: "That is wrong.",
});

it("keeps what is typed into the form of a step", async () => {
  const { user } = await renderPart(<Form of="a" />);
  const name = await screen.findByRole("textbox", { name: /Name/ });
  await user.clear(name);
  await user.type(name, "Greet");
  await user.type(screen.getByLabelText(/Limit/), "7");
  expect(seen.document.definition.nodes[0]?.data).toMatchObject({ name: "Greet", limit: 7 });
});

it("says at the field of a step what the validation found", async () => {
  await renderPart(<Form of="a" issues={[issue("node", "a", "data.name")]} />);
  expect(await screen.findByText("That is wrong.")).toBeTruthy();
  expect(screen.getByRole("textbox", { name: /Name/ }).getAttribute("aria-invalid")).toBe("true");
});

it("cannot be changed by a viewer", async () => {
  await renderPart(<Form of="a" canEdit={false} />);
  expect(await screen.findByRole("textbox", { name: /Name/ })).toHaveProperty("disabled", true);
});

it("keeps what is typed into the form of an edge, and says at its field what is wrong", async () => {
  const { user } = await renderPart(<Form of="e" issues={[issue("edge", "e", "data.condition")]} />);
  const condition = await screen.findByRole("textbox", { name: /Condition/ });
  await user.type(condition, "All said");
  expect(seen.document.definition.edges[0]?.data).toMatchObject({ label: "done", condition: "All said" });
  expect(condition.getAttribute("aria-invalid")).toBe("true");
});
