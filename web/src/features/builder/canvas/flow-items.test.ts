import { applyNodeChanges } from "@xyflow/react";
import { describe, expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import { moveNodes, setNodeData, setEdgeData } from "../../../graph/editing/edit";
import { geometryOf, routeEdges } from "../../../graph/layout/routes";
import { NOTHING_CHOSEN } from "../state/editor-state";
import { flowEdges, flowNodes } from "./flow-items";

const GRAPH = parse({
  nodes: [
    { id: "a", type: "agentNode", data: { name: "Ask" } },
    { id: "b", type: "none" },
  ],
  edges: [
    { id: "w", source: "a", target: "b", data: { label: "done" } },
    { id: "v", source: "a", target: "b" },
    { id: "lost", source: "a", target: "gone" },
  ],
});
const SPECS = new Map();
const nodes = flowNodes([], GRAPH, NOTHING_CHOSEN, SPECS, true);
const ROUTES = routeEdges(geometryOf(GRAPH, new Map()));
const edges = flowEdges([], GRAPH, NOTHING_CHOSEN, ROUTES);

describe("what the canvas draws", () => {
  it("says to a screen reader what each is", () => {
    expect(nodes.map((node) => node.ariaLabel)).toEqual(["Ask, unknown type", "Unnamed, unknown type"]);
    expect(edges[0]?.ariaLabel).toBe("Transition done from Ask to b");
  });

  it("leaves out an edge to nowhere, and puts the labels of edges between the same steps below each other", () => {
    expect(edges.map((edge) => [edge.id, edge.data?.row])).toEqual([
      ["w", -0.5],
      ["v", 0.5],
    ]);
  });

  it("keeps every object that is drawn as before", () => {
    expect(flowNodes(nodes, GRAPH, NOTHING_CHOSEN, SPECS, true).every((node, index) => node === nodes[index])).toBe(
      true,
    );
    expect(flowEdges(edges, GRAPH, NOTHING_CHOSEN, ROUTES).every((edge, index) => edge === edges[index])).toBe(true);
    const next = flowNodes(
      nodes,
      setNodeData(GRAPH, "a", { prompt: "New." }),
      { nodeIds: ["a"], edgeIds: [] },
      SPECS,
      true,
    );
    expect([
      next[0] === nodes[0],
      next[0]?.selected,
      next[0]?.position === nodes[0]?.position,
      next[1] === nodes[1],
    ]).toEqual([false, true, true, true]);
    const moved = flowNodes(nodes, moveNodes(GRAPH, new Map([["b", { x: 5, y: 5 }]])), NOTHING_CHOSEN, SPECS, true);
    expect([moved[0] === nodes[0], moved[1]?.position]).toEqual([true, { x: 5, y: 5 }]);
    expect(flowNodes(nodes, GRAPH, NOTHING_CHOSEN, SPECS, false)[0]?.data.canEdit).toBe(false);
    const chosen = flowEdges(edges, setEdgeData(GRAPH, "v", { label: "x" }), { nodeIds: [], edgeIds: ["w"] }, ROUTES);
    expect(chosen.map((edge) => [edge.selected, edge.data?.edge.data["label"]])).toEqual([
      [true, "done"],
      [false, "x"],
    ]);
  });
  it("draws one step anew while it is dragged, and no edge: the document learns of it when it is let go", () => {
    const move = (x: number, dragging: boolean) => [
      { id: "b", type: "position" as const, position: { x, y: 0 }, dragging },
    ];
    const dragged = applyNodeChanges(move(40, true), nodes);
    expect([dragged[0] === nodes[0], dragged[1] === nodes[1]]).toEqual([true, false]);
    // Choosing it at the first move does not put it back to where the document has it.
    const chosen = flowNodes(dragged, GRAPH, { nodeIds: ["b"], edgeIds: [] }, SPECS, true);
    expect([chosen[0] === nodes[0], chosen[1]?.selected, chosen[1]?.position]).toEqual([true, true, { x: 40, y: 0 }]);
    const letGo = applyNodeChanges(move(50, false), chosen);
    const moved = moveNodes(GRAPH, new Map([["b", { x: 50, y: 0 }]]));
    const after = flowNodes(letGo, moved, { nodeIds: ["b"], edgeIds: [] }, SPECS, true);
    expect([after[0] === nodes[0], after[1]?.position]).toEqual([true, { x: 50, y: 0 }]);
    expect(flowEdges(edges, moved, NOTHING_CHOSEN, ROUTES)).toBe(edges);
  });

  it("is the same list where nothing is drawn anew", () => {
    expect(flowNodes(nodes, GRAPH, NOTHING_CHOSEN, SPECS, true)).toBe(nodes);
    expect(flowEdges(edges, GRAPH, NOTHING_CHOSEN, ROUTES)).toBe(edges);
  });
});
