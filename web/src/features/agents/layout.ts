/** Places a graph in layers from top to bottom. Pure geometry in pixels, tested without a page. */

import type { GraphEdge, GraphNode } from "./graph";

export const NODE_WIDTH = 134;
export const NODE_HEIGHT = 50;
const GAP_X = 20;
const GAP_Y = 62;
const PAD = 10;
/** Room for lines that lead back up. */
const GUTTER = 26;

export interface Placed {
  node: GraphNode;
  x: number;
  y: number;
}

export interface Wire {
  edge: GraphEdge;
  path: string;
  labelX: number;
  labelY: number;
}

export interface Layout {
  placed: Placed[];
  wires: Wire[];
  /** Nodes that no conversation passes through, such as global instructions and webhooks. */
  aside: GraphNode[];
  width: number;
  height: number;
}

export function layout(nodes: GraphNode[], edges: GraphEdge[]): Layout {
  const inFlow = new Set(nodes.filter((node) => isInFlow(node, edges)).map((node) => node.id));
  const flow = nodes.filter((node) => inFlow.has(node.id));
  const links = edges.filter((edge) => inFlow.has(edge.source) && inFlow.has(edge.target));
  const layers = order(layersOf(flow, links), links);
  const widest = Math.max(1, ...layers.map((layer) => layer.length));
  const hasBackEdge = links.some((edge) => depth(layers, edge.target) <= depth(layers, edge.source));
  const gutter = hasBackEdge ? GUTTER : 0;
  const inner = widest * NODE_WIDTH + (widest - 1) * GAP_X;
  const placed = layers.flatMap((layer, row) => {
    const width = layer.length * NODE_WIDTH + (layer.length - 1) * GAP_X;
    return layer.map((node, column) => ({
      node,
      x: PAD + gutter + (inner - width) / 2 + column * (NODE_WIDTH + GAP_X),
      y: PAD + row * (NODE_HEIGHT + GAP_Y),
    }));
  });
  const width = inner + 2 * PAD + 2 * gutter;
  const where = new Map(placed.map((item) => [item.node.id, item]));
  return {
    placed,
    wires: links.map((edge) => wire(edge, links, where, width)),
    aside: nodes.filter((node) => !inFlow.has(node.id)),
    width,
    height: Math.max(1, layers.length) * (NODE_HEIGHT + GAP_Y) - GAP_Y + 2 * PAD,
  };
}

function isInFlow(node: GraphNode, edges: GraphEdge[]): boolean {
  return ["startCall", "agentNode", "endCall"].includes(node.kind) || edges.some((edge) => edge.source === node.id || edge.target === node.id);
}

/** A node's layer is its distance from a start, so that the way through reads downwards; ends stand last. */
function layersOf(nodes: GraphNode[], edges: GraphEdge[]): GraphNode[][] {
  const depths = new Map<string, number>();
  const starts = nodes.filter((node) => node.kind === "startCall" || node.kind === "trigger");
  let front = (starts.length > 0 ? starts : nodes.slice(0, 1)).map((node) => node.id);
  for (let row = 0; front.length > 0; row++) {
    front.forEach((id) => depths.set(id, row));
    front = [...new Set(edges.filter((edge) => front.includes(edge.source)).map((edge) => edge.target))].filter((id) => !depths.has(id));
  }
  const deepest = Math.max(0, ...depths.values());
  const isAloneLast = nodes.some((node) => depths.get(node.id) === deepest && node.kind !== "endCall");
  const last = isAloneLast ? deepest + 1 : deepest;
  const layers: GraphNode[][] = [];
  for (const node of nodes) {
    const row = node.kind === "endCall" ? last : (depths.get(node.id) ?? deepest);
    (layers[row] ??= []).push(node);
  }
  return Array.from(layers, (layer) => layer ?? []).filter((layer) => layer.length > 0);
}

/** Each layer in the order of the mean place of what leads to it: fewer crossings. */
function order(layers: GraphNode[][], edges: GraphEdge[]): GraphNode[][] {
  const share = new Map<string, number>();
  return layers.map((layer) => {
    const sorted = layer
      .map((node, index) => {
        const parents = edges.filter((edge) => edge.target === node.id && share.has(edge.source));
        const mean = parents.reduce((sum, edge) => sum + (share.get(edge.source) ?? 0), 0) / (parents.length || 1);
        return { node, mean: parents.length > 0 ? mean : 0.5, index };
      })
      .sort((a, b) => a.mean - b.mean || a.index - b.index)
      .map((item) => item.node);
    sorted.forEach((node, index) => share.set(node.id, (index + 0.5) / sorted.length));
    return sorted;
  });
}

function depth(layers: GraphNode[][], id: string): number {
  return layers.findIndex((layer) => layer.some((node) => node.id === id));
}

function wire(edge: GraphEdge, all: GraphEdge[], where: Map<string, Placed>, width: number): Wire {
  const from = where.get(edge.source) as Placed;
  const to = where.get(edge.target) as Placed;
  if (to.y <= from.y) return backWire(edge, from, to, width);
  const x1 = port(edge, all.filter((other) => other.source === edge.source), from, where, "target");
  const x2 = port(edge, all.filter((other) => other.target === edge.target), to, where, "source");
  const y1 = from.y + NODE_HEIGHT;
  const y2 = to.y;
  const middle = (y1 + y2) / 2;
  const isLong = to.y - from.y > NODE_HEIGHT + GAP_Y + 1;
  // A label stands near its source, where its lines have not met those of other nodes yet.
  const share = isLong ? 0.3 / Math.max(1, Math.round((to.y - from.y) / (NODE_HEIGHT + GAP_Y))) : 0.42;
  return {
    edge,
    path: `M ${x1} ${y1} C ${x1} ${middle}, ${x2} ${middle}, ${x2} ${y2}`,
    labelX: x1 + (x2 - x1) * smooth(share),
    labelY: y1 + (y2 - y1) * share,
  };
}

/** Lines that share a node spread over its side, in the order of their other ends. */
function port(edge: GraphEdge, siblings: GraphEdge[], at: Placed, where: Map<string, Placed>, other: "source" | "target"): number {
  const sorted = [...siblings].sort((a, b) => (where.get(a[other])?.x ?? 0) - (where.get(b[other])?.x ?? 0));
  const index = sorted.findIndex((item) => item.id === edge.id);
  return at.x + (NODE_WIDTH * (index + 1)) / (sorted.length + 1);
}

function backWire(edge: GraphEdge, from: Placed, to: Placed, width: number): Wire {
  // On the side where its target stands, so that it does not run behind the nodes between.
  const isRight = to.x === from.x ? from.x + NODE_WIDTH / 2 >= width / 2 : to.x > from.x;
  const x1 = isRight ? from.x + NODE_WIDTH : from.x;
  const x2 = isRight ? to.x + NODE_WIDTH : to.x;
  const edgeX = isRight ? Math.max(x1, x2) + GUTTER - 4 : Math.min(x1, x2) - GUTTER + 4;
  const y1 = from.y + NODE_HEIGHT * 0.6;
  const y2 = to.y + NODE_HEIGHT * (from === to ? 0.2 : 0.5);
  return {
    edge,
    path: `M ${x1} ${y1} C ${edgeX} ${y1}, ${edgeX} ${y2}, ${x2} ${y2}`,
    labelX: bezier(x1, edgeX, edgeX, x2),
    labelY: bezier(y1, y1, y2, y2),
  };
}

/** A cubic curve a third of the way: near enough to its source to belong to it. */
function bezier(a: number, b: number, c: number, d: number): number {
  const t = 0.34;
  const u = 1 - t;
  return u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
}

function smooth(share: number): number {
  return share * share * (3 - 2 * share);
}
