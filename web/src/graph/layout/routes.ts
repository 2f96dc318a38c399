/** Leads edges around the steps that stand in their way, and puts their labels where nothing covers them. */

import { type Definition, type GraphEdge, type Point, digitsOf, edgeLabel } from "../definition";
import { NODE_HEIGHT, NODE_WIDTH } from "../places";
import { type Box, grow, isInside, overlaps, union } from "./boxes";
import { type Curve, type Lane, edgeCurves, leadsBack, pointAt } from "./edge-path";
import type { Sizes } from "./layout";

export interface Route {
  /** The ends that it was made for: while a step is dragged it does not hold. */
  source: Point;
  target: Point;
  lane: Lane | undefined;
  label: Point;
  /** What its line and its label take. */
  extent: Box;
}

/** What an edge keeps from a step, and from another edge in the same lane (px). */
const CLEARANCE = 8;
const LANE_OFFSETS = [22, 36, 50];
const LANE_APART = 12;
/** How far above and below what stands in the way an edge is in its lane (px). */
const LEAD = 14;
const SAMPLES = 30;
/** How many lanes are tried, the nearest first. */
const MAX_COLUMNS = 60;
/** In pixels of length: what crossing a step and what sharing a lane is worth. */
const CROSSING_COST = 100_000;
const SHARED_LANE_COST = 400;
/** Where on its edge a label stands, the best place first. */
const LABEL_SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8];
/** By how many halves of its width and how many rows it leaves its line where all of that is covered. */
const LABEL_SHIFTS = [
  { side: 0, row: 0 },
  ...[1, -1].map((side) => ({ side, row: 0 })),
  ...[0, 1, -1].flatMap((side) => [1, -1].map((row) => ({ side, row }))),
];
/** What is bad about a place, from its worst: a card over it, too high or too low for its line, a label over it. */
const ON_CARD_COST = 4;
const ASTRAY_COST = 3;
const ON_LABEL_COST = 2;
const LABEL_HEIGHT = 21;
/** How far apart (px) the labels of edges stand that share a line, as those between the same two steps do. */
export const LABEL_ROW = 22;

/** All that routes depend on; the same as text where they are the same. */
export interface Geometry {
  nodes: (Box & { id: string })[];
  edges: { id: string; source: string; target: string; labelWidth: number }[];
}

export function geometryOf(definition: Definition, sizes: Sizes): Geometry {
  return {
    nodes: definition.nodes.map((node) => ({ id: node.id, ...boxOf(node.position, sizes.get(node.id)) })),
    edges: definition.edges.map((edge) => ({
      id: edge.id,
      source: edge.source,
      target: edge.target,
      labelWidth: labelWidth(edge),
    })),
  };
}

/** The routes of all edges whose steps are there, by the edges' ids. */
export function routeEdges({ nodes, edges }: Geometry): Map<string, Route> {
  const boxes = new Map(nodes.map((node) => [node.id, node]));
  const lanes: Lane[] = [];
  const labels: Box[] = [];
  const routes = new Map<string, Route>();
  const rows = labelRows(edges);
  for (const edge of edges) {
    const from = boxes.get(edge.source);
    const to = boxes.get(edge.target);
    if (from === undefined || to === undefined) continue;
    const source = { x: (from.left + from.right) / 2, y: from.bottom };
    const target = { x: (to.left + to.right) / 2, y: to.top };
    const others = nodes.filter(({ id }) => id !== edge.source && id !== edge.target);
    const lane = findLane(source, target, [...others.map((box) => grow(box, CLEARANCE)), from, to], lanes);
    if (lane !== undefined) lanes.push(lane);
    const curves = edgeCurves(source, target, lane);
    const label = placeLabel(curves, rows.get(edge.id) ?? 0, edge.labelWidth, nodes, labels);
    if (edge.labelWidth > 0) labels.push(label.box);
    const extent = union([boundsOf(sampled(curves)), label.box]);
    routes.set(edge.id, { source, target, lane, label: label.at, extent });
  }
  return routes;
}

function boxOf({ x, y }: Point, size = { width: NODE_WIDTH, height: NODE_HEIGHT }): Box {
  return { left: x, top: y, right: x + size.width, bottom: y + size.height };
}

/** By how many rows each label is off the line that it shares with others, half of them above; none for a line of its own. */
export function labelRows(edges: readonly { id: string; source: string; target: string }[]): Map<string, number> {
  const pairs = new Map<string, string[]>();
  for (const { id, source, target } of edges) {
    const pair = `${source} ${target}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), id]);
  }
  return new Map([...pairs.values()].flatMap((ids) => ids.map((id, index) => [id, index - (ids.length - 1) / 2])));
}

/** What a graph takes on the canvas: steps, lines and labels; null without steps. */
export function extentOf(geometry: Geometry): Box | null {
  if (geometry.nodes.length === 0) return null;
  return union([...geometry.nodes, ...[...routeEdges(geometry).values()].map((route) => route.extent)]);
}

/** Where there is no room for a new step: the cards, and with them the lines and their labels. */
export function obstaclesOf(geometry: Geometry): { cards: Box[]; all: Box[] } {
  const lines = [...routeEdges(geometry).values()].flatMap(({ source, target, lane }) =>
    sampled(edgeCurves(source, target, lane)).map(({ x, y }) => ({ left: x, top: y, right: x + 1, bottom: y + 1 })),
  );
  return { cards: geometry.nodes, all: [...geometry.nodes, ...lines] };
}

/** Undefined when the plain line crosses no step, or when no lane is better. */
function findLane(source: Point, target: Point, boxes: readonly Box[], taken: readonly Lane[]): Lane | undefined {
  const plain = crossed(edgeCurves(source, target), boxes);
  if (plain.length === 0) return undefined;
  const isBack = leadsBack(source, target);
  const top = Math.min(source.y, target.y);
  const bottom = Math.max(source.y, target.y);
  const near = boxes.filter((box) => box.top < bottom && box.bottom > top);
  const detour = (x: number) => Math.abs(source.x - x) + Math.abs(target.x - x);
  const columns = new Set(near.flatMap((box) => LANE_OFFSETS.flatMap((by) => [box.left - by, box.right + by])));
  let best: Lane | undefined;
  let bestCost = plain.length * CROSSING_COST;
  for (const x of [...columns].sort((one, other) => detour(one) - detour(other)).slice(0, MAX_COLUMNS)) {
    if (detour(x) >= bestCost) break;
    const lane = isBack ? { x, from: source.y, until: target.y } : stretch(x, source, target, plain, boxes);
    const crossings = crossed(edgeCurves(source, target, lane), boxes).length;
    const isTaken = taken.some((other) => isShared(lane, other));
    const cost = crossings * CROSSING_COST + (isTaken ? SHARED_LANE_COST : 0) + detour(x);
    if (cost < bestCost) [best, bestCost] = [lane, cost];
  }
  return best;
}

/** The lane at `x`, long enough to pass what stands in the way of the plain line and of the way into the lane. */
function stretch(x: number, source: Point, target: Point, blocking: readonly Box[], others: readonly Box[]): Lane {
  let inTheWay = [...blocking];
  let lane = { x, from: source.y, until: target.y };
  for (let round = 0; round < 3; round += 1) {
    const { top, bottom } = union(inTheWay);
    const from = Math.max(source.y + LEAD, Math.min(top - LEAD, target.y - LEAD));
    lane = { x, from, until: Math.max(from, Math.min(bottom + LEAD, target.y - LEAD)) };
    const more = crossed(edgeCurves(source, target, lane), others).filter((box) => !inTheWay.includes(box));
    if (more.length === 0) break;
    inTheWay = [...inTheWay, ...more];
  }
  return lane;
}

function isShared(one: Lane, other: Lane): boolean {
  const reach = ({ from, until }: Lane) => [Math.min(from, until), Math.max(from, until)] as const;
  const [top, bottom] = reach(one);
  const [otherTop, otherBottom] = reach(other);
  return Math.abs(one.x - other.x) < LANE_APART && top < otherBottom && bottom > otherTop;
}

function crossed(curves: readonly Curve[], boxes: readonly Box[]): Box[] {
  const points = sampled(curves);
  const around = boundsOf(points);
  return boxes.filter((box) => overlaps(box, around) && points.some((point) => isInside(point, box)));
}

function sampled(curves: readonly Curve[]): Point[] {
  return Array.from({ length: SAMPLES + 1 }, (_, index) => pointAt(curves, index / SAMPLES));
}

function boundsOf(points: readonly Point[]): Box {
  return {
    left: Math.min(...points.map((point) => point.x)),
    top: Math.min(...points.map((point) => point.y)),
    right: Math.max(...points.map((point) => point.x)) + 1,
    bottom: Math.max(...points.map((point) => point.y)) + 1,
  };
}

function placeLabel(
  curves: readonly Curve[],
  row: number,
  width: number,
  cards: readonly Box[],
  labels: readonly Box[],
) {
  const half = { x: width / 2, y: LABEL_HEIGHT / 2 };
  const line = boundsOf(sampled(curves));
  const places = LABEL_SHIFTS.flatMap((shift) =>
    LABEL_SHARES.map((share) => {
      const onLine = pointAt(curves, share);
      const x = onLine.x + shift.side * half.x;
      const y = onLine.y + (row + shift.row) * LABEL_ROW;
      return { at: { x, y }, box: { left: x - half.x, top: y - half.y, right: x + half.x, bottom: y + half.y } };
    }),
  );
  const costOf = ({ at: { y }, box }: { at: Point; box: Box }) =>
    cards.filter((card) => overlaps(box, card)).length * ON_CARD_COST +
    labels.filter((other) => overlaps(box, other)).length * ON_LABEL_COST +
    (y < line.top || y > line.bottom ? ASTRAY_COST : 0);
  let best = places[0] ?? { at: { x: 0, y: 0 }, box: { left: 0, top: 0, right: 0, bottom: 0 } };
  let least = costOf(best);
  for (const place of places) {
    if (least === 0) break;
    const cost = costOf(place);
    if (cost < least) [best, least] = [place, cost];
  }
  return best;
}

/** About as wide (px) as its text is drawn; labels are cut at 190. */
function labelWidth(edge: GraphEdge): number {
  const words = textWidth(edgeLabel(edge));
  const digits = digitsOf(edge);
  const keys = digits === "" ? 0 : KEY_FRAME + textWidth(digits);
  return words + keys === 0 ? 0 : Math.min(190, LABEL_FRAME + words + keys);
}

/** What a label and the keys in it have around their text (px). */
const LABEL_FRAME = 20;
const KEY_FRAME = 15;
/** How wide (px) letters of a label are; all others are as wide as the last. */
const LETTERS: [RegExp, number][] = [
  [/[ijlI .,:;|!'’]/, 2.9],
  [/[frt()-]/, 4.2],
  [/[mwMW@]/, 10.2],
  [/[A-Z]/, 8.2],
];
const OTHER_LETTER = 6.6;

function textWidth(words: string): number {
  return Array.from(words).reduce(
    (sum, letter) => sum + (LETTERS.find(([letters]) => letters.test(letter))?.[1] ?? OTHER_LETTER),
    0,
  );
}
