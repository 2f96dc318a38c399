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
/** Where a label stands, the best place first. */
const LABEL_SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8];
const LABEL_HEIGHT = 21;
/** Edges between the same two steps share a line; their labels stand below each other. */
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
  const rows = new Map<string, number>();
  for (const edge of edges) {
    const from = boxes.get(edge.source);
    const to = boxes.get(edge.target);
    if (from === undefined || to === undefined) continue;
    const source = { x: (from.left + from.right) / 2, y: from.bottom };
    const target = { x: (to.left + to.right) / 2, y: to.top };
    const others = nodes.filter(({ id }) => id !== edge.source && id !== edge.target);
    const lane = findLane(source, target, [...others.map((box) => grow(box, CLEARANCE)), from, to], lanes);
    if (lane !== undefined) lanes.push(lane);
    const pair = `${edge.source} ${edge.target}`;
    const row = rows.get(pair) ?? 0;
    rows.set(pair, row + 1);
    const label = placeLabel(edgeCurves(source, target, lane), row, edge.labelWidth, nodes, labels);
    labels.push(label.box);
    routes.set(edge.id, { source, target, lane, label: label.at });
  }
  return routes;
}

function boxOf({ x, y }: Point, size = { width: NODE_WIDTH, height: NODE_HEIGHT }): Box {
  return { left: x, top: y, right: x + size.width, bottom: y + size.height };
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
  const points = Array.from({ length: SAMPLES + 1 }, (_, index) => pointAt(curves, index / SAMPLES));
  const around = {
    left: Math.min(...points.map((point) => point.x)),
    top: Math.min(...points.map((point) => point.y)),
    right: Math.max(...points.map((point) => point.x)) + 1,
    bottom: Math.max(...points.map((point) => point.y)) + 1,
  };
  return boxes.filter((box) => overlaps(box, around) && points.some((point) => isInside(point, box)));
}

function placeLabel(
  curves: readonly Curve[],
  row: number,
  width: number,
  cards: readonly Box[],
  labels: readonly Box[],
) {
  const places = LABEL_SHARES.map((share) => {
    const point = pointAt(curves, share);
    const at = { x: point.x, y: point.y + row * LABEL_ROW };
    const half = LABEL_HEIGHT / 2;
    return { at, box: { left: at.x - width / 2, top: at.y - half, right: at.x + width / 2, bottom: at.y + half } };
  });
  const covers = ({ box }: { box: Box }) =>
    cards.filter((card) => overlaps(box, card)).length * 2 + labels.filter((other) => overlaps(box, other)).length;
  const [first, ...more] = places;
  if (first === undefined) return { at: { x: 0, y: 0 }, box: { left: 0, top: 0, right: 0, bottom: 0 } };
  return more.reduce((best, place) => (covers(place) < covers(best) ? place : best), first);
}

/** About as wide (px) as its text is drawn; labels are cut at 190. */
function labelWidth(edge: GraphEdge): number {
  const letters = edgeLabel(edge).length + digitsOf(edge).length * 1.5;
  return letters === 0 ? 0 : Math.min(190, 20 + letters * 6.2);
}
