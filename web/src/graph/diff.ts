/** What differs between two versions of an agent, step by step and field by field. */

import { type Definition, canonical, nodeName, edgeLabel } from "./definition";

export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

export interface Change {
  kind: "node" | "edge" | "setting";
  id: string;
  title: string;
  change: "added" | "removed" | "changed";
  fields: FieldChange[];
}

interface Item {
  id: string;
  title: string;
  values: Record<string, unknown>;
}

export interface Version {
  definition: Definition;
  settings: Record<string, unknown>;
}

/** Steps first, then edges, then settings. Where a step stands on the canvas is no difference. */
export function diff(before: Version, after: Version): Change[] {
  return [
    ...compare("node", nodes(before.definition), nodes(after.definition)),
    ...compare("edge", edges(before.definition), edges(after.definition)),
    ...compare("setting", settings(before.settings), settings(after.settings)),
  ];
}

function nodes(definition: Definition): Item[] {
  return definition.nodes.map((node) => ({
    id: node.id,
    title: nodeName(node),
    values: { type: node.type, ...node.data },
  }));
}

function edges(definition: Definition): Item[] {
  const names = new Map(definition.nodes.map((node) => [node.id, nodeName(node)]));
  const nameOf = (id: string) => names.get(id) ?? id;
  return definition.edges.map((edge) => ({
    id: edge.id,
    title: `${nameOf(edge.source)} → ${nameOf(edge.target)}${edgeLabel(edge) === "" ? "" : `: ${edgeLabel(edge)}`}`,
    values: { from: nameOf(edge.source), to: nameOf(edge.target), ...edge.data },
  }));
}

function settings(values: Record<string, unknown>): Item[] {
  return Object.entries(values).map(([key, value]) => ({
    id: key,
    title: key,
    values: isPlain(value) ? value : { value },
  }));
}

function compare(kind: Change["kind"], before: Item[], after: Item[]): Change[] {
  const old = new Map(before.map((item) => [item.id, item]));
  const now = new Set(after.map((item) => item.id));
  const changes = after.flatMap((item): Change[] => {
    const was = old.get(item.id);
    if (was === undefined)
      return [{ kind, id: item.id, title: item.title, change: "added", fields: fieldsOf({}, item.values) }];
    const fields = fieldsOf(was.values, item.values);
    return fields.length === 0 ? [] : [{ kind, id: item.id, title: item.title, change: "changed", fields }];
  });
  const gone = before.filter((item) => !now.has(item.id));
  return [
    ...changes,
    ...gone.map((item): Change => ({ kind, id: item.id, title: item.title, change: "removed", fields: [] })),
  ];
}

function fieldsOf(before: Record<string, unknown>, after: Record<string, unknown>): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((field) => ({ field, before: before[field], after: after[field] }))
    .filter((change) => compared(change.before) !== compared(change.after));
}

/** What is not set, and what is set to nothing, are one. */
function compared(value: unknown): string {
  return value === undefined || value === null || value === "" ? "" : canonical(value, 1);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
