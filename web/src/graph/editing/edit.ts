/** Changes of a graph. Each takes a definition and gives the next one; what did not change keeps its identity. */

import {
  type Data,
  type Definition,
  type Point,
  type GraphNode,
  type GraphEdge,
  nodeName,
  text,
  unusedName,
  edgeLabel,
} from "../definition";
import { freePlace, placeBetween } from "../places";
import { followSteps, notesOf, removeNotes } from "./notes";

export function addNode(definition: Definition, node: GraphNode): Definition {
  return { ...definition, nodes: [...definition.nodes, node] };
}

/** A new id that says which kind of step it is. */
export function newNodeId(definition: Definition, kind: string): string {
  return unusedName(new Set([...definition.nodes, ...notesOf(definition)].map(({ id }) => id)), kind);
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

/**
 * Removes notes, edges, and steps with all of their edges. If a step had one edge in and one
 * edge out, the edge in leads on to the target of the edge out.
 */
export function remove(definition: Definition, nodeIds: readonly string[], edgeIds: readonly string[]): Definition {
  const gone = new Set(nodeIds);
  // An edge of a step that goes is no wish of its own: a box drawn around a step chooses its edges too.
  const chosen = new Set(
    definition.edges
      .filter((edge) => edgeIds.includes(edge.id) && !gone.has(edge.source) && !gone.has(edge.target))
      .map((edge) => edge.id),
  );
  const rest = {
    ...removeNotes(definition, nodeIds),
    edges: definition.edges.filter((edge) => !chosen.has(edge.id)),
  };
  return definition.nodes.filter((node) => gone.has(node.id)).reduce(removeNode, rest);
}

function removeNode(definition: Definition, node: GraphNode): Definition {
  const isLoop = (edge: GraphEdge) => edge.source === edge.target;
  const incoming = definition.edges.filter((edge) => edge.target === node.id && !isLoop(edge));
  const outgoing = definition.edges.filter((edge) => edge.source === node.id && !isLoop(edge));
  const [first] = incoming;
  const [last] = outgoing;
  const isPassed = incoming.length === 1 && outgoing.length === 1 && first?.source !== last?.target;
  const bridge = first !== undefined && last !== undefined && isPassed ? bridged(definition, node, first, last) : null;
  return {
    ...definition,
    nodes: definition.nodes.filter(({ id }) => id !== node.id),
    edges: definition.edges
      .map((edge) => (bridge !== null && edge.id === bridge.id ? bridge : edge))
      .filter(({ source, target }) => source !== node.id && target !== node.id),
  };
}

/** The edge past a step that goes: the one that led to it, with what the other says where it says nothing itself. */
function bridged(definition: Definition, node: GraphNode, incoming: GraphEdge, outgoing: GraphEdge): GraphEdge {
  const { target } = outgoing;
  if (!isBlank(incoming, node)) return { ...incoming, target };
  const labels = definition.edges
    .filter((edge) => edge.source === incoming.source && edge.id !== incoming.id)
    .map((edge) => edgeLabel(edge));
  const label = edgeLabel(outgoing);
  const data = label === "" ? outgoing.data : { ...outgoing.data, label: unusedName(new Set(labels), label) };
  return { ...incoming, target, data };
}

/** Whether an edge says nothing but the name of the step that it leads to, as a new one does. */
function isBlank({ data }: GraphEdge, target: GraphNode): boolean {
  const { label, ...rest } = data;
  const isSaid = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value));
  const name = text(label);
  return (name === "" || name === nodeName(target)) && !Object.values(rest).some(isSaid);
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
  const places = new Map(lowered);
  const roomy = moveNodes(followSteps(definition, places), places);
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
