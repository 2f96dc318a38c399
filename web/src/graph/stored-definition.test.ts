import { describe, expect, it } from "vitest";
import { isEqual, parse } from "./definition";
import { GRAPH } from "./graph.fixture";

describe("a stored definition", () => {
  it("is read whatever it lacks, and keeps what is not known here", () => {
    expect(parse(null)).toEqual({ nodes: [], edges: [] });
    const odd = parse({
      nodes: [{ id: "x", type: "agentNode", width: 7 }, null, { id: "x" }, {}],
      edges: "no",
      extra: 1,
    });
    expect(odd.nodes.map((node) => node.id)).toEqual(["x", "x-2", "step"]);
    expect(odd.nodes[0]).toMatchObject({ width: 7, position: { x: 0, y: 0 }, data: {} });
    expect(odd["extra"]).toBe(1);
    expect(GRAPH["demo_caller"]).toEqual(["Hello"]);
  });

  it("is the same whatever the order of its keys", () => {
    expect(isEqual({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
    expect(isEqual({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
  });
});
