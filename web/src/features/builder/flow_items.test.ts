import { describe, expect, it } from "vitest";
import { parse } from "../../graph/definition";
import { moveSteps, setStepData, setWayData } from "../../graph/edit";
import { NOTHING_CHOSEN } from "./editor_state";
import { flowEdges, flowNodes } from "./flow_items";

const GRAPH = parse({
  nodes: [{ id: "a", type: "agentNode", data: { name: "Ask" } }, { id: "b", type: "none" }],
  edges: [
    { id: "w", source: "a", target: "b", data: { label: "done" } },
    { id: "v", source: "a", target: "b" },
    { id: "lost", source: "a", target: "gone" },
  ],
});
const SPECS = new Map();
const nodes = flowNodes([], GRAPH, NOTHING_CHOSEN, SPECS, true);
const edges = flowEdges([], GRAPH, NOTHING_CHOSEN);

describe("what the canvas draws", () => {
  it("says to a screen reader what each is", () => {
    expect(nodes.map((node) => node.ariaLabel)).toEqual(["Ask, unknown kind", "Unnamed, unknown kind"]);
    expect(edges[0]?.ariaLabel).toBe("Way done from Ask to b");
  });

  it("leaves out a way to nowhere, and puts the labels of ways between the same steps below each other", () => {
    expect(edges.map((edge) => [edge.id, edge.data?.row])).toEqual([["w", 0], ["v", 1]]);
  });

  it("keeps every object that is drawn as before", () => {
    expect(flowNodes(nodes, GRAPH, NOTHING_CHOSEN, SPECS, true).every((node, index) => node === nodes[index])).toBe(true);
    expect(flowEdges(edges, GRAPH, NOTHING_CHOSEN).every((edge, index) => edge === edges[index])).toBe(true);
    const next = flowNodes(nodes, setStepData(GRAPH, "a", { prompt: "New." }), { stepIds: ["a"], wayIds: [] }, SPECS, true);
    expect([next[0] === nodes[0], next[0]?.selected, next[0]?.position === nodes[0]?.position, next[1] === nodes[1]]).toEqual([false, true, true, true]);
    const moved = flowNodes(nodes, moveSteps(GRAPH, new Map([["b", { x: 5, y: 5 }]])), NOTHING_CHOSEN, SPECS, true);
    expect([moved[0] === nodes[0], moved[1]?.position]).toEqual([true, { x: 5, y: 5 }]);
    expect(flowNodes(nodes, GRAPH, NOTHING_CHOSEN, SPECS, false)[0]?.data.canEdit).toBe(false);
    const chosen = flowEdges(edges, setWayData(GRAPH, "v", { label: "x" }), { stepIds: [], wayIds: ["w"] });
    expect(chosen.map((edge) => [edge.selected, edge.data?.way.data["label"]])).toEqual([[true, "done"], [false, "x"]]);
  });
});
