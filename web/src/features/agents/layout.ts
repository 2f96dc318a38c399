/** Places a graph as a tree that reads from top to bottom. Pure geometry in pixels, tested without a page. */

import type { GraphEdge, GraphNode } from "./graph";

export const NODE_WIDTH = 128;
export const NODE_HEIGHT = 48;
const GAP_X = 14;
const GAP_Y = 40;
const PAD = 20;
/** How far a line leaves a node's side on its way to one above or beside it. */
const DETOUR = 24;

export interface Placed {
  node: GraphNode;
  x: number;
  y: number;
}

/** One line between two nodes, however many edges the graph has there. */
export interface Wire {
  id: string;
  source: string;
  target: string;
  path: string;
  /** On the shortest way from the start; the others lead back or across and are drawn on demand. */
  isMain: boolean;
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
  const ids = new Set(nodes.filter((node) => isInFlow(node, edges)).map((node) => node.id));
  const flow = nodes.filter((node) => ids.has(node.id));
  const links = edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  const parents = shortestWays(flow, links);
  const where = place(flow, parents);
  const columns = Math.max(1, ...[...where.values()].map((spot) => Math.ceil(spot.column) + 1));
  const rows = Math.max(1, ...[...where.values()].map((spot) => spot.row + 1));
  const placed = flow.map((node) => {
    const { column, row } = where.get(node.id) as Spot;
    return { node, x: PAD + column * (NODE_WIDTH + GAP_X), y: PAD + row * (NODE_HEIGHT + GAP_Y) };
  });
  return {
    placed,
    wires: wiresOf(links, parents, new Map(placed.map((item) => [item.node.id, item]))),
    aside: nodes.filter((node) => !ids.has(node.id)),
    width: columns * (NODE_WIDTH + GAP_X) - GAP_X + 2 * PAD,
    height: rows * (NODE_HEIGHT + GAP_Y) - GAP_Y + 2 * PAD,
  };
}

function isInFlow(node: GraphNode, edges: GraphEdge[]): boolean {
  return ["startCall", "agentNode", "endCall"].includes(node.kind) || edges.some((edge) => edge.source === node.id || edge.target === node.id);
}

/** Each node's parent on a shortest way from the start; null for the start and for what cannot be reached. */
function shortestWays(nodes: GraphNode[], edges: GraphEdge[]): Map<string, string | null> {
  const parents = new Map<string, string | null>();
  const roots = [...nodes.filter((node) => node.kind === "startCall"), ...nodes.filter((node) => node.kind !== "startCall")];
  for (const root of roots) {
    if (parents.has(root.id)) continue;
    parents.set(root.id, null);
    const queue = [root.id];
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      for (const edge of edges.filter((item) => item.source === id && !parents.has(item.target))) {
        if (parents.has(edge.target)) continue;
        parents.set(edge.target, id);
        queue.push(edge.target);
      }
    }
  }
  return parents;
}

interface Spot {
  column: number;
  row: number;
}

/** Every leaf has a column of its own, and a parent stands over the middle of its children: no line crosses another. */
function place(nodes: GraphNode[], parents: Map<string, string | null>): Map<string, Spot> {
  const where = new Map<string, Spot>();
  let nextColumn = 0;
  const visit = (id: string, row: number): number => {
    const columns = nodes.filter((node) => parents.get(node.id) === id).map((child) => visit(child.id, row + 1));
    const column = columns.length === 0 ? nextColumn++ : ((columns[0] as number) + (columns.at(-1) as number)) / 2;
    where.set(id, { column, row });
    return column;
  };
  nodes.filter((node) => parents.get(node.id) === null).forEach((root) => visit(root.id, 0));
  return where;
}

function wiresOf(edges: GraphEdge[], parents: Map<string, string | null>, where: Map<string, Placed>): Wire[] {
  const wires = new Map<string, Wire>();
  for (const { source, target } of edges) {
    const id = `${source} ${target}`;
    const isMain = source !== target && parents.get(target) === source;
    const draw = isMain ? mainPath : sidePath;
    wires.set(id, { id, source, target, isMain, path: draw(where.get(source) as Placed, where.get(target) as Placed) });
  }
  return [...wires.values()];
}

function mainPath(from: Placed, to: Placed): string {
  const x1 = from.x + NODE_WIDTH / 2;
  const x2 = to.x + NODE_WIDTH / 2;
  const y1 = from.y + NODE_HEIGHT;
  const middle = (y1 + to.y) / 2;
  return `M ${x1} ${y1} C ${x1} ${middle}, ${x2} ${middle}, ${x2} ${to.y}`;
}

/** From side to side: a loop beside the column, or the facing sides of two columns. */
function sidePath(from: Placed, to: Placed): string {
  const isSameColumn = Math.abs(to.x - from.x) < NODE_WIDTH / 2;
  const leaves = !isSameColumn && to.x > from.x ? 1 : -1;
  const arrives = isSameColumn ? leaves : -leaves;
  const x1 = side(from, leaves);
  const x2 = side(to, arrives);
  const y1 = from.y + NODE_HEIGHT * 0.72;
  const y2 = to.y + NODE_HEIGHT * 0.28;
  return `M ${x1} ${y1} C ${x1 + leaves * DETOUR} ${y1}, ${x2 + arrives * DETOUR} ${y2}, ${x2} ${y2}`;
}

function side(at: Placed, direction: number): number {
  return direction > 0 ? at.x + NODE_WIDTH : at.x;
}
