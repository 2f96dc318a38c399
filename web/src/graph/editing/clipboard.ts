/** Copying steps and notes within an agent and between agents, as text that any clipboard can hold. */

import {
  type Definition,
  type GraphEdge,
  type GraphNode,
  type Note,
  type Point,
  object,
  parse,
  unusedName,
} from "../definition";
import { NODE_HEIGHT, NODE_WIDTH, freePlace } from "../places";
import { type NodeSpec, canAdd } from "../specs";
import { MAX_NOTES, notesOf } from "./notes";

const MARK = "offhook/steps";

/** Returns the selected steps with the edges between them, and the selected notes; "" if nothing is selected. */
export function serializeNodes(definition: Definition, nodeIds: readonly string[]): string {
  const ids = new Set(nodeIds);
  const nodes = definition.nodes.filter((node) => ids.has(node.id));
  const notes = notesOf(definition).filter((note) => ids.has(note.id));
  if (nodes.length + notes.length === 0) return "";
  const edges = definition.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  return JSON.stringify({ kind: MARK, nodes, edges, ...(notes.length === 0 ? {} : { notes }) });
}

/** What `copied` wrote, or null for any other text. */
export function clipOf(words: string): Definition | null {
  try {
    const { kind, nodes, edges, notes } = object(JSON.parse(words));
    return kind === MARK ? parse({ nodes, edges, notes }) : null;
  } catch {
    return null;
  }
}

export interface Pasted {
  definition: Definition;
  /** Of steps and notes. */
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
  const taken = new Set([...definition.nodes, ...notesOf(definition)].map(({ id }) => id));
  const ids = new Map<string, string>();
  const corners = [...clip.nodes, ...notesOf(clip).flatMap(cornersOf)];
  const middle = middleOf(corners);
  const { width, height } = boundsOf(corners);
  const free = freePlace(
    definition,
    { x: at.x - width / 2, y: at.y - height / 2 },
    { width: width + NODE_WIDTH, height: height + NODE_HEIGHT },
  );
  const moved = ({ x, y }: Point) => ({
    x: Math.round(free.x + width / 2 + x - middle.x),
    y: Math.round(free.y + height / 2 + y - middle.y),
  });
  const nodes: GraphNode[] = [];
  for (const node of clip.nodes) {
    const spec = specs.get(node.type);
    if (spec !== undefined && !canAdd(spec, { ...definition, nodes: [...definition.nodes, ...nodes] })) continue;
    const id = unusedName(taken, node.id);
    ids.set(node.id, id);
    nodes.push({ ...node, id, position: moved(node.position), data: withoutTriggerPath(node) });
  }
  const room = Math.max(0, MAX_NOTES - notesOf(definition).length);
  const notes = notesOf(clip)
    .slice(0, room)
    .map((note): Note => ({ ...note, id: unusedName(taken, note.id), position: moved(note.position) }));
  const edgeIds = new Set(definition.edges.map((edge) => edge.id));
  const edges = clip.edges.flatMap((edge): GraphEdge[] => {
    const source = ids.get(edge.source);
    const target = ids.get(edge.target);
    return source === undefined || target === undefined
      ? []
      : [{ ...edge, id: unusedName(edgeIds, `${source}-${target}`), source, target }];
  });
  return {
    definition: {
      ...definition,
      nodes: [...definition.nodes, ...nodes],
      edges: [...definition.edges, ...edges],
      ...(notes.length === 0 ? {} : { notes: [...notesOf(definition), ...notes] }),
    },
    nodeIds: [...nodes, ...notes].map(({ id }) => id),
    leftOut: clip.nodes.length - nodes.length,
  };
}

/** Returns the upper left corners of two steps that span the note's rectangle. */
function cornersOf({ position, width, height }: Note): Placed[] {
  const last = {
    x: Math.max(position.x, position.x + width - NODE_WIDTH),
    y: Math.max(position.y, position.y + height - NODE_HEIGHT),
  };
  return [{ position }, { position: last }];
}

type Placed = Pick<GraphNode, "position">;

/** A trigger's address belongs to one step for ever: a copy gets its own from the server. */
function withoutTriggerPath(node: GraphNode): GraphNode["data"] {
  const { trigger_path: _, ...data } = node.data;
  return node.type === "trigger" ? data : node.data;
}

export function withoutTriggerPaths(definition: Definition): Definition {
  return { ...definition, nodes: definition.nodes.map((node) => ({ ...node, data: withoutTriggerPath(node) })) };
}

export function middleOf(nodes: readonly Placed[]): Point {
  const { x, y, width, height } = boundsOf(nodes);
  return { x: x + width / 2, y: y + height / 2 };
}

/** The rectangle of the upper left corners of steps. */
export function boundsOf(nodes: readonly Placed[]) {
  if (nodes.length === 0) return { x: 0, y: 0, width: 0, height: 0 };
  const xs = nodes.map((node) => node.position.x);
  const ys = nodes.map((node) => node.position.y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
