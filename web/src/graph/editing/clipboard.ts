/** Copying steps within an agent and between agents, as text that any clipboard can hold. */

import { type Definition, type Point, type GraphNode, type GraphEdge, object, parse, unusedName } from "../definition";
import { NODE_HEIGHT, NODE_WIDTH, freePlace } from "../places";
import { type NodeSpec, canAdd } from "../specs";

const MARK = "offhook/steps";

/** The chosen steps with the edges between them; empty when nothing is chosen. */
export function serializeNodes(definition: Definition, nodeIds: readonly string[]): string {
  const ids = new Set(nodeIds);
  const nodes = definition.nodes.filter((node) => ids.has(node.id));
  if (nodes.length === 0) return "";
  const edges = definition.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  return JSON.stringify({ kind: MARK, nodes, edges });
}

/** What `copied` wrote, or null for any other text. */
export function clipOf(words: string): Definition | null {
  try {
    const value: unknown = JSON.parse(words);
    return object(value)["kind"] === MARK
      ? parse({ nodes: object(value)["nodes"], edges: object(value)["edges"] })
      : null;
  } catch {
    return null;
  }
}

export interface Pasted {
  definition: Definition;
  nodeIds: string[];
  /** How many steps had no place, because there may be only so many of their kind. */
  leftOut: number;
}

/** Puts copied steps into a graph, with new ids, their middle at `at` or, if steps stand there, beside them. */
export function paste(
  definition: Definition,
  clip: Definition,
  at: Point,
  specs: ReadonlyMap<string, NodeSpec>,
): Pasted {
  const taken = new Set(definition.nodes.map((node) => node.id));
  const ids = new Map<string, string>();
  const middle = middleOf(clip.nodes);
  const { width, height } = boundsOf(clip.nodes);
  const free = freePlace(
    definition,
    { x: at.x - width / 2, y: at.y - height / 2 },
    { width: width + NODE_WIDTH, height: height + NODE_HEIGHT },
  );
  const nodes: GraphNode[] = [];
  for (const node of clip.nodes) {
    const spec = specs.get(node.type);
    if (spec !== undefined && !canAdd(spec, { ...definition, nodes: [...definition.nodes, ...nodes] })) continue;
    const id = unusedName(taken, node.id);
    ids.set(node.id, id);
    const position = {
      x: Math.round(free.x + width / 2 + node.position.x - middle.x),
      y: Math.round(free.y + height / 2 + node.position.y - middle.y),
    };
    nodes.push({ ...node, id, position, data: withoutTriggerPath(node) });
  }
  const edgeIds = new Set(definition.edges.map((edge) => edge.id));
  const edges = clip.edges.flatMap((edge): GraphEdge[] => {
    const source = ids.get(edge.source);
    const target = ids.get(edge.target);
    return source === undefined || target === undefined
      ? []
      : [{ ...edge, id: unusedName(edgeIds, `${source}-${target}`), source, target }];
  });
  return {
    definition: { ...definition, nodes: [...definition.nodes, ...nodes], edges: [...definition.edges, ...edges] },
    nodeIds: nodes.map((node) => node.id),
    leftOut: clip.nodes.length - nodes.length,
  };
}

/** A trigger's address belongs to one step for ever: a copy gets its own from the server. */
function withoutTriggerPath(node: GraphNode): GraphNode["data"] {
  const { trigger_path: _, ...data } = node.data;
  return node.type === "trigger" ? data : node.data;
}

export function withoutTriggerPaths(definition: Definition): Definition {
  return { ...definition, nodes: definition.nodes.map((node) => ({ ...node, data: withoutTriggerPath(node) })) };
}

export function middleOf(nodes: readonly GraphNode[]): Point {
  const { x, y, width, height } = boundsOf(nodes);
  return { x: x + width / 2, y: y + height / 2 };
}

/** The rectangle of the upper left corners of steps. */
export function boundsOf(nodes: readonly GraphNode[]) {
  if (nodes.length === 0) return { x: 0, y: 0, width: 0, height: 0 };
  const xs = nodes.map((node) => node.position.x);
  const ys = nodes.map((node) => node.position.y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
