/** Changes of a graph. Each takes a definition and gives the next one; what did not change keeps its identity. */

import { type Data, type Definition, type Point, type Step, type Way, stepName, unused, wayLabel } from "../definition";

export function addStep(definition: Definition, step: Step): Definition {
  return { ...definition, nodes: [...definition.nodes, step] };
}

/** A new id that says which kind of step it is. */
export function newStepId(definition: Definition, kind: string): string {
  return unused(new Set(definition.nodes.map((node) => node.id)), kind);
}

/** Keys whose value is `undefined` are removed. */
export function setStepData(definition: Definition, id: string, patch: Data): Definition {
  return {
    ...definition,
    nodes: definition.nodes.map((node) => (node.id === id ? { ...node, data: patched(node.data, patch) } : node)),
  };
}

export function setWayData(definition: Definition, id: string, patch: Data): Definition {
  return {
    ...definition,
    edges: definition.edges.map((edge) => (edge.id === id ? { ...edge, data: patched(edge.data, patch) } : edge)),
  };
}

export function patched(data: Data, patch: Data): Data {
  return Object.fromEntries(Object.entries({ ...data, ...patch }).filter(([, value]) => value !== undefined));
}

export function moveSteps(definition: Definition, places: ReadonlyMap<string, Point>): Definition {
  const isMoved = (node: Step) => {
    const place = places.get(node.id);
    return place !== undefined && (place.x !== node.position.x || place.y !== node.position.y);
  };
  if (!definition.nodes.some(isMoved)) return definition;
  const nodes = definition.nodes.map((node) =>
    isMoved(node) ? { ...node, position: places.get(node.id) as Point } : node,
  );
  return { ...definition, nodes };
}

/** Removes steps with all ways from and to them, and ways. */
export function remove(definition: Definition, stepIds: readonly string[], wayIds: readonly string[]): Definition {
  const steps = new Set(stepIds);
  const ways = new Set(wayIds);
  return {
    ...definition,
    nodes: definition.nodes.filter((node) => !steps.has(node.id)),
    edges: definition.edges.filter((edge) => !ways.has(edge.id) && !steps.has(edge.source) && !steps.has(edge.target)),
  };
}

/** Joins two steps; the label is the target's name, because two ways from one step need different ones. */
export function connect(definition: Definition, source: string, target: string): { definition: Definition; way: Way } {
  const id = unused(new Set(definition.edges.map((edge) => edge.id)), `${source}-${target}`);
  const goal = definition.nodes.find((node) => node.id === target);
  const labels = new Set(definition.edges.filter((edge) => edge.source === source).map((edge) => wayLabel(edge)));
  const label = unused(labels, goal === undefined ? "Next" : stepName(goal));
  const way: Way = { id, source, target, data: { label, condition: "" } };
  return { definition: { ...definition, edges: [...definition.edges, way] }, way };
}

export function reconnect(definition: Definition, id: string, source: string, target: string): Definition {
  return {
    ...definition,
    edges: definition.edges.map((edge) => (edge.id === id ? { ...edge, source, target } : edge)),
  };
}

/** What the server adds when it saves: the address of a trigger that had none. The same object when there is nothing. */
export function withMinted(definition: Definition, saved: Definition): Definition {
  const minted = new Map(
    saved.nodes.filter((node) => node.type === "trigger").map((node) => [node.id, node.data["trigger_path"]]),
  );
  const lacks = (node: Step) => node.type === "trigger" && !node.data["trigger_path"] && Boolean(minted.get(node.id));
  if (!definition.nodes.some(lacks)) return definition;
  const nodes = definition.nodes.map((node) =>
    lacks(node) ? { ...node, data: { ...node.data, trigger_path: minted.get(node.id) } } : node,
  );
  return { ...definition, nodes };
}
