/** The graph of an agent as the editor holds it. Whatever keys a stored definition has besides are kept. */

export interface Point {
  x: number;
  y: number;
}

export type Data = Record<string, unknown>;

export interface GraphNode {
  id: string;
  type: string;
  position: Point;
  data: Data;
  [key: string]: unknown;
}

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  data: Data;
  [key: string]: unknown;
}

/** Text on the canvas for people who edit the agent. Calls and checks ignore it. */
export interface Note {
  id: string;
  text: string;
  position: Point;
  width: number;
  height: number;
  [key: string]: unknown;
}

export interface Definition {
  nodes: GraphNode[];
  edges: GraphEdge[];
  notes?: Note[];
  [key: string]: unknown;
}

export const NOTHING: Definition = { nodes: [], edges: [] };

/** Reads a stored definition, which may be any unfinished draft. Ids that are missing or used twice are replaced. */
export function parse(stored: unknown): Definition {
  const raw = object(stored);
  const taken = new Set<string>();
  const nodes = list(raw["nodes"]).map((node): GraphNode => {
    const id = unusedName(taken, text(node["id"]) || "step");
    return { ...node, id, type: text(node["type"]), position: point(node["position"]), data: object(node["data"]) };
  });
  const edgeIds = new Set<string>();
  const edges = list(raw["edges"]).map((edge): GraphEdge => {
    const source = text(edge["source"]);
    const target = text(edge["target"]);
    const id = unusedName(edgeIds, text(edge["id"]) || `${source}-${target}`);
    return { ...edge, id, source, target, data: object(edge["data"]) };
  });
  const { notes: written, ...rest } = raw;
  return Array.isArray(written)
    ? { ...rest, nodes, edges, notes: readNotes(written, taken) }
    : { ...raw, nodes, edges };
}

export const NOTE_SIZE = { width: 220, height: 120 } as const;
/** The smallest and the largest side of a note, in pixels of the canvas. */
export const NOTE_SIDES = { least: 60, most: 3000 } as const;

/** Steps and notes are selected together, so their ids must not collide. */
function readNotes(written: unknown[], taken: Set<string>): Note[] {
  const side = (value: unknown, otherwise: number) =>
    Math.min(NOTE_SIDES.most, Math.max(NOTE_SIDES.least, finite(value) || otherwise));
  return list(written).map((note): Note => ({
    ...note,
    id: unusedName(taken, text(note["id"]) || "note"),
    text: text(note["text"]),
    position: point(note["position"]),
    width: side(note["width"], NOTE_SIZE.width),
    height: side(note["height"], NOTE_SIZE.height),
  }));
}

/** `wanted`, or the first of `wanted-2`, `wanted-3` … that is free; it is taken from now on. */
export function unusedName(taken: Set<string>, expected: string): string {
  let id = expected;
  for (let count = 2; taken.has(id); count += 1) id = `${expected}-${count}`;
  taken.add(id);
  return id;
}

export function nodeName(node: GraphNode): string {
  return text(node.data["name"]) || node.id;
}

/** What the agent does or says here, in the author's words. */
export function summaryOf(node: GraphNode): string {
  const { data } = node;
  return (
    text(data["greeting"]) ||
    text(data["say"]) ||
    text(data["prompt"]) ||
    text(data["endpoint_url"]) ||
    text(data["trigger_path"])
  );
}

export function edgeLabel(edge: GraphEdge): string {
  return text(edge.data["label"]);
}

/** "Welcome → Wants a table", in the order of the ids; what is not in the graph keeps its id. */
export function edgeTitles({ nodes, edges }: Definition, ids: readonly string[]): string[] {
  const names = new Map(nodes.map((node) => [node.id, nodeName(node)]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const titles = new Map(
    edges.map((edge) => [edge.id, `${nameOf(edge.source)} → ${edgeLabel(edge) || nameOf(edge.target)}`]),
  );
  return ids.map((id) => titles.get(id) ?? id);
}

export function digitsOf(edge: GraphEdge): string {
  return text(edge.data["digits"]);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function object(value: unknown): Data {
  return isObject(value) ? value : {};
}

function list(value: unknown): Data[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function point(value: unknown): Point {
  const { x, y } = object(value);
  return { x: finite(x), y: finite(y) };
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** Whether two values hold the same, whatever the order of their keys: the database keeps its own. */
export function isEqual(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

export function canonical(value: unknown, indent = 0): string {
  return JSON.stringify(
    value,
    (_, item: unknown) =>
      isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
    indent,
  );
}

function isObject(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
