/** The graph of an agent as the editor holds it. Whatever keys a stored definition has besides are kept. */

export interface Point {
  x: number;
  y: number;
}

export type Data = Record<string, unknown>;

export interface Step {
  id: string;
  type: string;
  position: Point;
  data: Data;
  [key: string]: unknown;
}

export interface Way {
  id: string;
  source: string;
  target: string;
  data: Data;
  [key: string]: unknown;
}

export interface Definition {
  nodes: Step[];
  edges: Way[];
  [key: string]: unknown;
}

export const NOTHING: Definition = { nodes: [], edges: [] };

/** Reads a stored definition, which may be any unfinished draft. Ids that are missing or used twice are made anew. */
export function parse(stored: unknown): Definition {
  const raw = object(stored);
  const taken = new Set<string>();
  const nodes = list(raw["nodes"]).map((node): Step => {
    const id = unused(taken, text(node["id"]) || "step");
    return { ...node, id, type: text(node["type"]), position: point(node["position"]), data: object(node["data"]) };
  });
  const wayIds = new Set<string>();
  const edges = list(raw["edges"]).map((edge): Way => {
    const source = text(edge["source"]);
    const target = text(edge["target"]);
    const id = unused(wayIds, text(edge["id"]) || `${source}-${target}`);
    return { ...edge, id, source, target, data: object(edge["data"]) };
  });
  return { ...raw, nodes, edges };
}

/** `wanted`, or the first of `wanted-2`, `wanted-3` … that is free; it is taken from now on. */
export function unused(taken: Set<string>, wanted: string): string {
  let id = wanted;
  for (let count = 2; taken.has(id); count += 1) id = `${wanted}-${count}`;
  taken.add(id);
  return id;
}

export function stepName(step: Step): string {
  return text(step.data["name"]) || step.id;
}

/** What the agent does or says here, in the author's words. */
export function summaryOf(step: Step): string {
  const { data } = step;
  return (
    text(data["greeting"]) ||
    text(data["say"]) ||
    text(data["prompt"]) ||
    text(data["endpoint_url"]) ||
    text(data["trigger_path"])
  );
}

export function wayLabel(way: Way): string {
  return text(way.data["label"]);
}

export function digitsOf(way: Way): string {
  return text(way.data["digits"]);
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
