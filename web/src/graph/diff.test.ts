import { describe, expect, it } from "vitest";
import { diff } from "./diff";
import { addNode, moveNodes, remove, setNodeData } from "./editing/edit";
import { node, GRAPH } from "./graph.fixture";

describe("two versions", () => {
  it("differ by steps, edges and settings, not by places", () => {
    const before = { definition: GRAPH, settings: { max_call_duration: 300 } };
    expect(
      diff(before, {
        definition: moveNodes(GRAPH, new Map([["a", { x: 9, y: 9 }]])),
        settings: { max_call_duration: 300 },
      }),
    ).toEqual([]);
    const changed = remove(setNodeData(addNode(GRAPH, node("n")), "a", { prompt: "New." }), ["b"], []);
    expect(
      diff(before, { definition: changed, settings: {} }).map((item) => `${item.change} ${item.kind} ${item.id}`),
    ).toEqual([
      "changed node a",
      "added node n",
      "removed node b",
      "removed edge s-b",
      "removed edge b-e",
      "removed edge b-s",
      "removed setting max_call_duration",
    ]);
    expect(diff(before, { definition: changed, settings: {} })[0]?.fields).toEqual([
      { field: "prompt", before: undefined, after: "New." },
    ]);
  });
});
