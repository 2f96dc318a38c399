/** Changes of a graph. Each takes a definition and gives the next one; what did not change keeps its identity. */

import {
  type Data,
  type Definition,
  type Point,
  type GraphNode,
  type GraphEdge,
  nodeName,
  unusedName,
  edgeLabel,
} from "../definition";
import { freePlace, placeBetween } from "../places";

export function addNode(definition: Definition, node: GraphNode): Definition {
  return { ...definition, nodes: [...definition.nodes, node] };
}

/** A new id that says which kind of step it is. */
export function newNodeId(definition: Definition, kind: string): string {
  return unusedName(new Set(definition.nodes.map((node) => node.id)), kind);
}

/** Keys whose value is `undefined` are removed. */
export function setNodeData(definition: Definition, id: string, patch: Data): Definition {
  return {
    ...definition,
    nodes: definition.nodes.map((node) => (node.id === id ? { ...node, data: patched(node.data, patch) } : node)),
  };
}

export function setEdgeData(definition: Definition, id: string, patch: Data): Definition {
  return {
    ...definition,
    edges: definition.edges.map((edge) => (edge.id === id ? { ...edge, data: patched(edge.data, patch) } : edge)),
  };
}

export function patched(data: Data, patch: Data): Data {
  return Object.fromEntries(Object.entries({ ...data, ...patch }).filter(([, value]) => value !== undefined));
}

export function moveNodes(definition: Definition, places: ReadonlyMap<string, Point>): Definition {
  const isMoved = (node: GraphNode) => {
    const place = places.get(node.id);
    return place !== undefined && (place.x !== node.position.x || place.y !== node.position.y);
  };
  if (!definition.nodes.some(isMoved)) return definition;
  const nodes = definition.nodes.map((node) =>
    isMoved(node) ? { ...node, position: places.get(node.id) as Point } : node,
  );
  return { ...definition, nodes };
}

/** Removes steps with all edges from and to them, and edges. */
export function remove(definition: Definition, nodeIds: readonly string[], edgeIds: readonly string[]): Definition {
  const nodes = new Set(nodeIds);
  const edges = new Set(edgeIds);
  return {
    ...definition,
    nodes: definition.nodes.filter((node) => !nodes.has(node.id)),
    edges: definition.edges.filter((edge) => !edges.has(edge.id) && !nodes.has(edge.source) && !nodes.has(edge.target)),
  };
}

/** Joins two steps; the label is the target's name, because two edges from one step need different ones. */
export function connect(
  definition: Definition,
  source: string,
  target: string,
): { definition: Definition; edge: GraphEdge } {
  const id = unusedName(new Set(definition.edges.map((edge) => edge.id)), `${source}-${target}`);
  const goal = definition.nodes.find((node) => node.id === target);
  const labels = new Set(definition.edges.filter((edge) => edge.source === source).map((edge) => edgeLabel(edge)));
  const label = unusedName(labels, goal === undefined ? "Next" : nodeName(goal));
  const edge: GraphEdge = { id, source, target, data: { label, condition: "" } };
  return { definition: { ...definition, edges: [...definition.edges, edge] }, edge };
}

export function reconnect(definition: Definition, id: string, source: string, target: string): Definition {
  return {
    ...definition,
    edges: definition.edges.map((edge) => (edge.id === id ? { ...edge, source, target } : edge)),
  };
}

/** Puts a step into an edge, which then leads to it; what stands below makes room. */
export function splice(definition: Definition, edgeId: string, node: GraphNode): Definition {
  const edge = definition.edges.find((candidate) => candidate.id === edgeId);
  const source = definition.nodes.find((candidate) => candidate.id === edge?.source);
  const target = definition.nodes.find((candidate) => candidate.id === edge?.target);
  if (edge === undefined || source === undefined || target === undefined) return addNode(definition, node);
  const { place, shift } = placeBetween(source.position, target.position);
  const lowered = definition.nodes
    .filter(({ position }) => shift > 0 && position.y >= target.position.y)
    .map(({ id, position }): [string, Point] => [id, { x: position.x, y: position.y + shift }]);
  const roomy = moveNodes(definition, new Map(lowered));
  const added = addNode(roomy, { ...node, position: freePlace(roomy, place) });
  return connect(reconnect(added, edgeId, edge.source, node.id), node.id, edge.target).definition;
}

/** What the server adds when it saves: the address of a trigger that had none. The same object when there is nothing. */
export function withMinted(definition: Definition, saved: Definition): Definition {
  const minted = new Map(
    saved.nodes.filter((node) => node.type === "trigger").map((node) => [node.id, node.data["trigger_path"]]),
  );
  const lacks = (node: GraphNode) =>
    node.type === "trigger" && !node.data["trigger_path"] && Boolean(minted.get(node.id));
  if (!definition.nodes.some(lacks)) return definition;
  const nodes = definition.nodes.map((node) =>
    lacks(node) ? { ...node, data: { ...node.data, trigger_path: minted.get(node.id) } } : node,
  );
  return { ...definition, nodes };
}
