/** Which steps may use a tool or a document, seen from the tool or the document. */

import type { Definition, GraphNode } from "./definition";
import { setNodeData } from "./editing/edit";
import type { NodeSpec } from "./specs";

/** Fields that name it; what is added is written to the first. */
export type Names = readonly [string, ...string[]];
export const TOOLS: Names = ["tool_uuids"];
export const DOCUMENTS: Names = ["document_refs", "document_uuids"];

/** The steps whose kind has such a field. */
export function eligibleNodes(
  definition: Definition,
  specs: ReadonlyMap<string, NodeSpec>,
  [name]: Names,
): GraphNode[] {
  return definition.nodes.filter(
    (node) => specs.get(node.type)?.properties.some((property) => property.name === name) === true,
  );
}

function listed(node: GraphNode, name: string): unknown[] {
  const value = node.data[name];
  return Array.isArray(value) ? value : [];
}

export function usersOf(nodes: readonly GraphNode[], names: Names, id: string): string[] {
  return nodes.filter((node) => names.some((name) => listed(node, name).includes(id))).map((node) => node.id);
}

/** The definition in which exactly these of the steps use it. */
export function withUsers(
  definition: Definition,
  nodes: readonly GraphNode[],
  names: Names,
  id: string,
  users: readonly string[],
): Definition {
  const before = new Set(usersOf(nodes, names, id));
  const after = new Set(users);
  return nodes.reduce((next, node) => {
    if (before.has(node.id) === after.has(node.id)) return next;
    if (after.has(node.id)) return setNodeData(next, node.id, { [names[0]]: [...listed(node, names[0]), id] });
    const without = names
      .filter((name) => listed(node, name).includes(id))
      .map((name) => [name, listed(node, name).filter((other) => other !== id)] as const);
    return setNodeData(
      next,
      node.id,
      Object.fromEntries(without.map(([name, rest]) => [name, rest.length === 0 ? undefined : rest])),
    );
  }, definition);
}
