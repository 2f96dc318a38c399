import { describe, expect, it } from "vitest";
import { type Definition, type Point, parse } from "../definition";
import { NODE_HEIGHT, NODE_WIDTH } from "../places";
import { type Box, isInside, overlaps, union } from "./boxes";
import { edgeCurves, pointAt } from "./edge-path";
import { type Route, extentOf, geometryOf, routeEdges } from "./routes";

function boxAt({ x, y }: Point): Box {
  return { left: x, top: y, right: x + NODE_WIDTH, bottom: y + NODE_HEIGHT };
}

/** The boxes that the line of a route goes through. */
function crossedBy({ source, target, lane }: Route, boxes: Box[]): Box[] {
  const curves = edgeCurves(source, target, lane);
  const points = Array.from({ length: 200 }, (_, index) => pointAt(curves, index / 199));
  return boxes.filter((box) => points.some((point) => isInside(point, box)));
}

function graph(places: Record<string, Point>, edges: [string, string, string?][]) {
  return parse({
    nodes: Object.entries(places).map(([id, position]) => ({ id, type: "agentNode", position, data: { name: id } })),
    edges: edges.map(([source, target, label], index) => ({ id: `${index}`, source, target, data: { label } })),
  });
}

const route = (places: Record<string, Point>, edges: [string, string, string?][]) =>
  routeEdges(geometryOf(graph(places, edges), new Map()));

/** Which labels something covers: a card or another label. */
function covered(definition: Definition): string[] {
  const { nodes, edges } = geometryOf(definition, new Map());
  const routes = routeEdges({ nodes, edges });
  const labels = edges.map(({ id, labelWidth }) => {
    const { x, y } = routes.get(id)?.label ?? { x: 0, y: 0 };
    return { id, left: x - labelWidth / 2, right: x + labelWidth / 2, top: y - 11, bottom: y + 11 };
  });
  return labels
    .filter((label) => [...nodes, ...labels].some((other) => other !== label && overlaps(label, other)))
    .map((label) => label.id);
}

describe("the routes of edges", () => {
  const COLUMN = { a: { x: 0, y: 0 }, b: { x: 0, y: 200 }, c: { x: 0, y: 400 }, d: { x: 0, y: 600 } };
  const boxes = Object.values(COLUMN).map(boxAt);

  it("leave an edge alone that has nothing in its way", () => {
    expect([...route(COLUMN, [["a", "b"]]).values()].map((found) => found.lane)).toEqual([undefined]);
  });

  it("lead around the steps between, down and back up, each edge in a lane of its own", () => {
    const found = [...route(COLUMN, [["a", "d"], ["a", "c"], ["d", "a"], ["c", "a"], ["b", "b"]]).values()]; // prettier-ignore
    for (const one of found) expect(crossedBy(one, boxes)).toEqual([]);
    const lanes = found.flatMap((one) => (one.lane === undefined ? [] : [one.lane.x]));
    expect(new Set(lanes).size).toBe(lanes.length);
  });

  it("survive steps that stand on each other, and edges to nowhere", () => {
    const stack = { a: { x: 0, y: 0 }, b: { x: 0, y: 0 }, c: { x: 4, y: 30 } };
    expect(route(stack, [["a", "b"], ["b", "c"], ["c", "gone"]]).size).toBe(2); // prettier-ignore
  });

  it("put labels beside the cards and beside each other", () => {
    const places = { a: { x: 0, y: 0 }, b: { x: -150, y: 200 }, c: { x: 150, y: 200 }, d: { x: 0, y: 400 } };
    const crowd = graph(places, [
      ["a", "b", "wants to book"],
      ["a", "c", "wants to cancel"],
      ["a", "d", "wants a person"],
      ["a", "d", "is angry"],
    ]);
    expect(covered(crowd)).toEqual([]);
    // More of them than there is room for between two cards, one below the other.
    const pair = { a: { x: 0, y: 0 }, b: { x: 0, y: 260 } };
    const many = ["vegetarian", "vegan", "gluten-free", "nothing special", "another diet"];
    expect(covered(graph(pair, many.map((label) => ["a", "b", label])))).toEqual([]); // prettier-ignore
  });

  it("reckon with labels as wide as they are drawn, with their keys", () => {
    // As measured in a browser (px).
    const drawn: [string, string, number][] = [
      ["would recommend", "1", 140],
      ["wrong number", "8", 121],
      ["the food", "2", 88],
      ["release it after all", "", 111],
      ["call later", "", 65],
    ];
    for (const [label, digits, width] of drawn) {
      const one = { ...graph(COLUMN, []), edges: [{ id: "e", source: "a", target: "b", data: { label, digits } }] };
      const reckoned = geometryOf(one, new Map()).edges[0]?.labelWidth ?? 0;
      expect(Math.abs(reckoned - width), label).toBeLessThan(9);
    }
  });

  it("belong to what a graph takes, with their labels", () => {
    const cards = extentOf(geometryOf(graph(COLUMN, []), new Map()));
    expect(cards).toEqual(union(boxes));
    const around = extentOf(geometryOf(graph(COLUMN, [["d", "a", "starts all over again"]]), new Map()));
    const width = (box: Box | null) => (box === null ? 0 : box.right - box.left);
    expect(width(around)).toBeGreaterThan(width(cards) + 60);
    expect(extentOf({ nodes: [], edges: [] })).toBeNull();
  });

  it("are the same text while nothing that they depend on changes", () => {
    const one = graph(COLUMN, [["a", "b", "yes"]]);
    const key = (definition: typeof one) => JSON.stringify(geometryOf(definition, new Map()));
    const prompted = { ...one, nodes: one.nodes.map((node) => ({ ...node, data: { prompt: "New." } })) };
    expect(key(prompted)).toBe(key(one));
    expect(key(graph(COLUMN, [["a", "b", "yes, please"]]))).not.toBe(key(one));
  });
});
