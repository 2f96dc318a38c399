/** What the served node kinds declare, applied: new steps, which fields are shown, where edges may lead. */

import type { components } from "../lib/api/api";
import type { Data, Definition, Point, GraphNode } from "./definition";
import { newNodeId } from "./editing/edit";

export type NodeSpec = components["schemas"]["NodeSpec"] & { max_instances?: number | null };
export type PropertySpec = components["schemas"]["PropertySpec"];

/** The declared value of a field when none is stored. */
export function valueOf(property: PropertySpec, data: Data): unknown {
  return data[property.name] ?? property.default ?? undefined;
}

/** Names that are read as another one is: shown only where a stored agent uses them. */
const OTHER_NAMES = new Set(["document_uuids"]);

export function isShown(property: PropertySpec, spec: Pick<NodeSpec, "properties">, data: Data): boolean {
  if (OTHER_NAMES.has(property.name))
    return Array.isArray(data[property.name]) && (data[property.name] as unknown[]).length > 0;
  const { show, hide } = property.display_options ?? {};
  const isOneOf = ([name, values]: [string, unknown[]]) => {
    const other = spec.properties.find((candidate) => candidate.name === name);
    return values.includes(other === undefined ? data[name] : valueOf(other, data));
  };
  if (show && !Object.entries(show).every(isOneOf)) return false;
  return !(hide && Object.entries(hide).some(isOneOf));
}

/** A step of this kind with the declared defaults; its name is not yet used by another step. */
export function createNode(spec: NodeSpec, definition: Definition, position: Point): GraphNode {
  const data: Data = {};
  for (const property of spec.properties) {
    if (property.default !== null && property.default !== undefined)
      data[property.name] = structuredClone(property.default);
  }
  const names = new Set(definition.nodes.map((node) => node.data["name"]));
  let name = spec.display_name;
  for (let count = 2; names.has(name); count += 1) name = `${spec.display_name} ${count}`;
  return { id: newNodeId(definition, spec.name), type: spec.name, position, data: { ...data, name } };
}

/** Whether the graph may have one more step of this kind. */
export function canAdd(spec: NodeSpec, definition: Definition): boolean {
  const most = spec.max_instances;
  return (
    most === null || most === undefined || definition.nodes.filter((node) => node.type === spec.name).length < most
  );
}

/** How many of the steps callers talk at, as templates count them: no trigger, and nothing that only adds to others or runs later. */
export function countSteps(specs: ReadonlyMap<string, NodeSpec>, { nodes }: Definition): number {
  return nodes.filter(({ type }) => (specs.get(type)?.category ?? "call_node") === "call_node").length;
}

export function mayEnter(spec: NodeSpec | undefined): boolean {
  return spec?.graph_constraints?.max_incoming !== 0;
}

export function mayLeave(spec: NodeSpec | undefined): boolean {
  return spec?.graph_constraints?.max_outgoing !== 0;
}

/** Whether an edge may be drawn between two steps, by what their kinds declare. */
export function canConnect(
  specs: ReadonlyMap<string, NodeSpec>,
  definition: Definition,
  source: string,
  target: string,
): boolean {
  const kindOf = (id: string) => definition.nodes.find((node) => node.id === id)?.type ?? "";
  return source !== target && mayLeave(specs.get(kindOf(source))) && mayEnter(specs.get(kindOf(target)));
}

export interface Section {
  title: string;
  properties: PropertySpec[];
}

const SECTIONS: [RegExp, string][] = [
  [/^extraction_/, "Extracted variables"],
  [/^(tool_uuids|document_refs|document_uuids)$/, "Tools and documents"],
  [/^(say|say_type|say_recording_id|offline_say)$/, "Fixed phrases"],
  [/^(examples|expects)$/, "Expected phrases"],
  [/^(allow_interrupt|add_global_prompt|delayed_start|delayed_start_duration)$/, "Behavior"],
  [/^pre_call_/, "Before the call"],
];

/** The fields of a kind in groups; the first, without a title, holds what every author sets. */
export function sectionsOf(spec: Pick<NodeSpec, "properties">): Section[] {
  const sections: Section[] = [
    { title: "", properties: [] },
    ...SECTIONS.map(([, title]) => ({ title, properties: [] })),
  ];
  for (const property of spec.properties) {
    const at = SECTIONS.findIndex(([pattern]) => pattern.test(property.name)) + 1;
    sections[at]?.properties.push(property);
  }
  return sections.filter((section) => section.properties.length > 0);
}
