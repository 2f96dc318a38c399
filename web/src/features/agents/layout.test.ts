import { describe, expect, it } from "vitest";
import { type GraphEdge, type GraphNode, edgesOf, nodesOf } from "./graph";
import { NODE_HEIGHT, NODE_WIDTH, layout } from "./layout";
import { starterDefinition } from "./starter";

const node = (id: string, kind = "agentNode"): GraphNode => ({ id, kind, name: id, summary: "" });
const edge = (source: string, target: string): GraphEdge => ({ id: `${source}-${target}`, source, target, label: "go", condition: "" });
const rowOf = (result: ReturnType<typeof layout>, id: string) => result.placed.find((item) => item.node.id === id)?.y ?? Number.NaN;

describe("the map of an agent", () => {
  const nodes = [node("end", "endCall"), node("a"), node("b"), node("start", "startCall"), node("rules", "globalNode")];
  const edges = [edge("start", "a"), edge("start", "b"), edge("a", "end"), edge("b", "end"), edge("b", "start")];
  const result = layout(nodes, edges);

  it("reads from the start down to the end", () => {
    expect(rowOf(result, "start")).toBeLessThan(rowOf(result, "a"));
    expect(rowOf(result, "a")).toBe(rowOf(result, "b"));
    expect(rowOf(result, "b")).toBeLessThan(rowOf(result, "end"));
  });

  it("never puts two nodes on one place and keeps all inside", () => {
    for (const one of result.placed) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + NODE_WIDTH).toBeLessThanOrEqual(result.width);
      expect(one.y + NODE_HEIGHT).toBeLessThanOrEqual(result.height);
      for (const other of result.placed.filter((item) => item !== one)) {
        expect(one.y !== other.y || Math.abs(one.x - other.x) >= NODE_WIDTH).toBe(true);
      }
    }
  });

  it("sets aside what no conversation passes through", () => {
    expect(result.aside.map((item) => item.id)).toEqual(["rules"]);
  });

  it("draws the shortest way to each step, and the other edges on demand", () => {
    const named = (isMain: boolean) => result.wires.filter((wire) => wire.isMain === isMain).map((wire) => wire.id);
    expect(named(true)).toEqual(["start a", "start b", "a end"]);
    expect(named(false)).toEqual(["b end", "b start"]);
  });

  it("draws one line for parallel edges", () => {
    const twice = layout(nodes, [...edges, { ...edge("start", "a"), id: "again" }]);
    expect(twice.wires).toHaveLength(result.wires.length);
  });

  it("puts a step over the middle of those that follow it", () => {
    const x = (id: string) => result.placed.find((item) => item.node.id === id)?.x ?? Number.NaN;
    expect(x("start")).toBe((x("a") + x("b")) / 2);
    expect(x("a")).toBe(x("end"));
  });

  it("survives unfinished drafts: loops, islands, missing ends and nothing at all", () => {
    expect(layout([], []).placed).toEqual([]);
    expect(layout([node("a"), node("b")], [edge("a", "b"), edge("b", "a"), edge("a", "a"), edge("a", "gone")]).wires).toHaveLength(3);
    expect(layout([node("start", "startCall"), node("island")], []).placed).toHaveLength(2);
  });
});

describe("a definition", () => {
  it("is read with whatever it lacks", () => {
    expect(nodesOf({ nodes: [{ id: "x", type: "agentNode" }, null] }).map((item) => item.name)).toEqual(["Conversation", ""]);
    expect(nodesOf(null)).toEqual([]);
    expect(edgesOf({ edges: "no" })).toEqual([]);
  });

  it("of a new agent has one way from its greeting to its end", () => {
    const definition = starterDefinition("Front desk");
    expect(nodesOf(definition).map((item) => item.kind)).toEqual(["startCall", "endCall"]);
    expect(edgesOf(definition)).toMatchObject([{ source: "start", target: "end", label: "Done" }]);
  });
});
