/** Findings of the validation, sorted to what they are about. */

import type { components } from "../lib/api/api";
import { type Definition, stepName, wayLabel } from "./definition";

export type Issue = components["schemas"]["WorkflowIssue"];
export interface Finding extends Issue {
  isError: boolean;
}

export interface Findings {
  all: Finding[];
  byStep: Map<string, Finding[]>;
  byWay: Map<string, Finding[]>;
  errors: number;
  warnings: number;
}

export const NO_FINDINGS: Findings = findings([], []);

/** Errors first. What is said of no step or way of its own stands only in `all`. */
export function findings(errors: readonly Issue[], warnings: readonly Issue[]): Findings {
  const all = [
    ...errors.map((issue) => ({ ...issue, isError: true })),
    ...warnings.map((issue) => ({ ...issue, isError: false })),
  ];
  const group = (kind: Issue["kind"]) => {
    const groups = new Map<string, Finding[]>();
    for (const finding of all) {
      if (finding.kind !== kind || finding.id === null) continue;
      groups.set(finding.id, [...(groups.get(finding.id) ?? []), finding]);
    }
    return groups;
  };
  return { all, byStep: group("node"), byWay: group("edge"), errors: errors.length, warnings: warnings.length };
}

/** The sentence at a field: `name` as the specification has it, or a row of a collection such as `headers.0.key`. */
export function problemAt(found: readonly Finding[], name: string): string | undefined {
  return found.find((finding) => finding.field === `data.${name}`)?.message;
}

/** What has no field of its own in a form that has these fields. */
export function besides(found: readonly Finding[], names: readonly string[]): Finding[] {
  return found.filter((finding) => {
    const field = finding.field?.replace(/^data\./, "") ?? "";
    return !names.some((name) => field === name || field.startsWith(`${name}.`));
  });
}

/** "Greeting" or "Greeting → Goodbye": where a finding is, for a list. Empty for the agent as a whole. */
export function placeOf(finding: Finding, definition: Definition): string {
  const nameOf = (id: string) => {
    const step = definition.nodes.find((node) => node.id === id);
    return step === undefined ? "nowhere" : stepName(step);
  };
  if (finding.kind === "node" && finding.id !== null) return nameOf(finding.id);
  const way = finding.kind === "edge" ? definition.edges.find((edge) => edge.id === finding.id) : undefined;
  return way === undefined
    ? ""
    : `${nameOf(way.source)} → ${nameOf(way.target)}${wayLabel(way) === "" ? "" : ` (${wayLabel(way)})`}`;
}
