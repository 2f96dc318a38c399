/** Places a graph so that it reads from top to bottom. The layered layout is dagre's; what is never passed through stands aside. */

import { Graph, layout as place } from "@dagrejs/dagre";
import type { Definition, Point } from "../definition";
import { GAP_X, GAP_Y, NODE_HEIGHT, NODE_WIDTH } from "../places";

export type Sizes = ReadonlyMap<string, { width: number; height: number }>;

/** New places for all steps; the topmost stands at y = 0, unconnected ones in a column at the left. */
export function arrangeNodes(definition: Definition, sizes: Sizes = new Map()): Map<string, Point> {
  const joined = new Set(definition.edges.flatMap((edge) => [edge.source, edge.target]));
  const isInFlow = (id: string, kind: string) => joined.has(id) || kind === "startCall";
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "TB", nodesep: GAP_X, ranksep: GAP_Y, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  const sizeOf = (id: string) => sizes.get(id) ?? { width: NODE_WIDTH, height: NODE_HEIGHT };
  // The start first: dagre breaks circles by the order in which it meets the steps.
  const ordered = [...definition.nodes].sort((a, b) => Number(b.type === "startCall") - Number(a.type === "startCall"));
  for (const node of ordered) if (isInFlow(node.id, node.type)) graph.setNode(node.id, { ...sizeOf(node.id) });
  for (const edge of definition.edges) {
    if (edge.source !== edge.target && graph.hasNode(edge.source) && graph.hasNode(edge.target))
      graph.setEdge(edge.source, edge.target);
  }
  place(graph);
  const places = new Map<string, Point>();
  for (const id of graph.nodes()) {
    const at = graph.node(id) as { x: number; y: number; width: number; height: number };
    places.set(id, { x: Math.round(at.x - at.width / 2), y: Math.round(at.y - at.height / 2) });
  }
  let y = 0;
  for (const node of definition.nodes.filter((candidate) => !places.has(candidate.id))) {
    places.set(node.id, { x: -(NODE_WIDTH + 2 * GAP_X), y });
    y += sizeOf(node.id).height + GAP_X / 2;
  }
  return places;
}
