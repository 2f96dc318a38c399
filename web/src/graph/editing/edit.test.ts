import { describe, expect, it } from "vitest";
import { addNode, connect, moveNodes, remove, setNodeData, splice, withMinted } from "./edit";
import { node, GRAPH } from "../graph.fixture";
import { NODE_HEIGHT } from "../places";

describe("a change", () => {
  it("leaves what it does not touch as it is", () => {
    const next = setNodeData(GRAPH, "a", { prompt: "Ask.", name: undefined });
    expect(next.nodes[1]?.data).toEqual({ prompt: "Ask." });
    expect(next.nodes[0]).toBe(GRAPH.nodes[0]);
    expect(moveNodes(GRAPH, new Map([["a", { x: 0, y: 0 }]]))).toBe(GRAPH);
  });

  it("takes the edges along when a step goes", () => {
    const next = remove(GRAPH, ["b"], ["s-a"]);
    expect(next.edges.map((edge) => edge.id)).toEqual(["a-e"]);
  });

  it("joins steps by edges that can be told apart", () => {
    const once = connect(GRAPH, "a", "b");
    const twice = connect(once.definition, "a", "b");
    expect([once.edge.data["label"], twice.edge.data["label"]]).toEqual(["b", "b-2"]);
    expect(new Set(twice.definition.edges.map((edge) => edge.id)).size).toBe(7);
  });

  it("puts a step into an edge and makes room for it", () => {
    const [start, end] = [node("s", "startCall"), { ...node("e", "endCall"), position: { x: 40, y: 120 } }];
    const joined = connect(addNode(addNode({ ...GRAPH, nodes: [], edges: [] }, start), end), "s", "e");
    const next = splice(joined.definition, joined.edge.id, node("n", "agentNode"));
    expect(next.edges.map((edge) => [edge.source, edge.target])).toEqual([
      ["s", "n"],
      ["n", "e"],
    ]);
    const [first, last, middle] = next.nodes.map(({ position }) => position.y);
    expect(middle).toBeGreaterThanOrEqual((first ?? 0) + NODE_HEIGHT);
    expect(last).toBeGreaterThanOrEqual((middle ?? 0) + NODE_HEIGHT);
    expect(next.nodes[0]).toBe(joined.definition.nodes[0]);
  });

  it("puts a step beside an edge that is gone", () => {
    const next = splice(GRAPH, "gone", node("n", "agentNode"));
    expect([next.nodes.length, next.edges]).toEqual([GRAPH.nodes.length + 1, GRAPH.edges]);
  });

  it("takes over the address that the server made for a trigger, and nothing else", () => {
    const mine = addNode(GRAPH, node("t", "trigger"));
    const saved = setNodeData(setNodeData(mine, "t", { trigger_path: "abc" }), "a", { prompt: "theirs" });
    expect(withMinted(mine, saved).nodes.find((node) => node.id === "t")?.data["trigger_path"]).toBe("abc");
    expect(withMinted(mine, saved).nodes[1]).toBe(mine.nodes[1]);
    expect(withMinted(GRAPH, GRAPH)).toBe(GRAPH);
  });
});
