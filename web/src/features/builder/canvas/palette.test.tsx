import { ReactFlowProvider } from "@xyflow/react";
import { screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Definition } from "../../../graph/definition";
import { edge, GRAPH, SPECS } from "../../../graph/graph.fixture";
import { NODE_HEIGHT, NODE_WIDTH } from "../../../graph/places";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import type { Selection } from "../state/editor-state";
import { Palette } from "./palette";

const DEFINITION: Definition = {
  ...GRAPH,
  nodes: GRAPH.nodes.map((node, index) => ({ ...node, position: { x: 0, y: index * 200 - 300 } })),
  edges: [edge("s", "a"), edge("a", "e")],
};

/** An edge is drawn wherever somebody looks. */
const line = document.createElement("div");

beforeEach(() => {
  line.innerHTML = `<div class="react-flow"><div class="react-flow__edge" data-id="a-e"></div></div>`;
  document.body.append(line);
  document.elementsFromPoint = () => [...line.querySelectorAll(".react-flow__edge")];
});

afterEach(() => {
  line.remove();
  Reflect.deleteProperty(document, "elementsFromPoint");
});

async function add(kind: string, selection: Partial<Selection>) {
  let { definition } = { definition: DEFINITION };
  const revealed: Selection[] = [];
  const editor = {
    document: { definition },
    selection: { nodeIds: [], edgeIds: [], ...selection },
    specs: SPECS,
    canEdit: true,
    change: (edit: (document: { definition: Definition }) => { definition: Definition }) =>
      ({ definition } = edit({ definition })),
    reveal: (chosen: Selection) => revealed.push(chosen),
  } as unknown as Editor;
  const { user } = await renderPart(
    <EditorProvider value={editor}>
      <ReactFlowProvider>
        <Palette />
      </ReactFlowProvider>
    </EditorProvider>,
  );
  const button = await screen.findByRole("button", { name: kind });
  await user.hover(button);
  const hint = (await screen.findByRole("tooltip")).textContent;
  await user.click(button);
  const added = definition.nodes.at(-1);
  expect(revealed).toEqual([{ nodeIds: [added?.id], edgeIds: [] }]);
  return { added, hint, joined: definition.edges.map(({ source, target }) => `${source} ${target}`) };
}

it("puts a step where there is room and leaves every transition alone while nothing is selected", async () => {
  const { added, joined, hint } = await add("agentNode", {});
  expect(joined).toEqual(["s a", "a e"]);
  expect(hint).toContain("in the middle of the canvas");
  const at = added?.position ?? { x: 0, y: 0 };
  const covers = DEFINITION.nodes.filter(
    ({ position: { x, y } }) => Math.abs(x - at.x) < NODE_WIDTH && Math.abs(y - at.y) < NODE_HEIGHT,
  );
  expect(covers).toEqual([]);
});

it("adds a step after the selected one", async () => {
  const after = await add("agentNode", { nodeIds: ["b"] });
  expect(after.joined).toEqual(["s a", "a e", `b ${after.added?.id ?? ""}`]);
  expect(after.hint).toContain("after the selected step");
});

it("inserts a step into the selected transition", async () => {
  const { joined, added, hint } = await add("agentNode", { edgeIds: ["s-a"] });
  expect(joined).toEqual([`s ${added?.id ?? ""}`, "a e", `${added?.id ?? ""} a`]);
  expect(hint).toContain("into the selected transition");
});

it("says that it connects nothing where a step could not follow the selected one", async () => {
  const end = await add("agentNode", { nodeIds: ["e"] });
  expect(end.joined).toEqual(["s a", "a e"]);
  expect(end.hint).toContain("not connected");
});

it("joins nothing to a note that is selected", async () => {
  const free = await add("agentNode", { nodeIds: ["note"] });
  expect(free.joined).toEqual(["s a", "a e"]);
  expect(free.hint).toContain("in the middle of the canvas");
});
