import { describe, expect, it } from "vitest";
import { parse } from "../definition";
import { addNode, moveNodes } from "../editing/edit";
import { arrangeNodes } from "./layout";
import { NODE_HEIGHT, NODE_WIDTH, areInside, freePlace, nearestFreePlace } from "../places";
import { node, edge, GRAPH } from "../graph.fixture";

describe("the arrangement", () => {
  const places = arrangeNodes(addNode(GRAPH, node("g", "globalNode")));
  const y = (id: string) => places.get(id)?.y ?? Number.NaN;

  it("reads from the start to the end, with circles", () => {
    expect(y("s")).toBeLessThan(y("a"));
    expect(y("a")).toBe(y("b"));
    expect(y("b")).toBeLessThan(y("e"));
  });

  it("never puts two steps on one place, and what is not joined aside", () => {
    const all = [...places.values()];
    for (const [index, one] of all.entries()) {
      for (const other of all.slice(index + 1)) {
        expect(Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT).toBe(true);
      }
    }
    expect(places.get("g")?.x).toBeLessThan(0);
  });

  it("finds a free place beside what is there", () => {
    expect(freePlace(GRAPH, { x: 0, y: 0 }).x).toBeGreaterThanOrEqual(NODE_WIDTH);
    expect(freePlace(GRAPH, { x: 0, y: 900 })).toEqual({ x: 0, y: 900 });
  });

  it("finds the nearest place that nothing takes, as far as it may reach", () => {
    const card = { left: 0, top: 0, right: NODE_WIDTH, bottom: NODE_HEIGHT };
    expect(nearestFreePlace([], { x: 7, y: 7 }, { x: 0, y: 0 })).toEqual({ x: 7, y: 7 });
    // Below or above is nearer than beside.
    const place = nearestFreePlace([card], { x: 0, y: 10 }, { x: 400, y: 400 });
    expect(place?.x).toBe(0);
    expect(place?.y).toBeGreaterThanOrEqual(NODE_HEIGHT);
    expect(place?.y).toBeLessThan(NODE_HEIGHT + 40);
    expect(nearestFreePlace([card], { x: 0, y: 10 }, { x: 40, y: 40 })).toBeUndefined();
    expect(nearestFreePlace([card], { x: 0, y: 10 }, { x: -40, y: -40 })).toBeUndefined();
  });

  it("knows whether all of some steps can be seen", () => {
    const view = { from: { x: 0, y: 0 }, until: { x: NODE_WIDTH, y: 400 } };
    const at = (x: number, y: number) => moveNodes(GRAPH, new Map([["a", { x, y }]])).nodes;
    expect([
      areInside(at(0, 300), view),
      areInside(at(1, 0), view),
      areInside(at(0, 310), view),
      areInside(at(0, -1), view),
    ]).toEqual([true, false, false, false]);
  });

  it("survives nothing at all, and edges to nowhere", () => {
    expect(arrangeNodes(parse({})).size).toBe(0);
    expect(arrangeNodes(parse({ nodes: [node("a")], edges: [edge("a", "a"), edge("a", "gone")] })).size).toBe(1);
  });
});
