/** Issues of the validation, sorted to what they are about. */

import type { components } from "../lib/api/api";
import { type Definition, nodeName, edgeLabel } from "./definition";
import { inPageWords } from "./readable";

export type ApiIssue = components["schemas"]["WorkflowIssue"];
export interface ValidationIssue extends ApiIssue {
  isError: boolean;
}

export interface ValidationIssues {
  all: ValidationIssue[];
  byNode: Map<string, ValidationIssue[]>;
  byEdge: Map<string, ValidationIssue[]>;
  errors: number;
  warnings: number;
}

/** Sentences of the page for issues that the API words for its clients. */
const MESSAGES: Partial<Record<string, string>> = {
  prompt_required: "Enter a prompt.",
  field_required: "This field is required.",
  incoming_required: "Connect another step to this one.",
  outgoing_required: "Connect this step to another one.",
  incoming_not_allowed: "No transition can lead to this step.",
  outgoing_not_allowed: "No transition can lead away from this step.",
};

/** Required fields by their names in the forms: a list of problems shows the sentence without its field. */
const REQUIRED_FIELDS: Partial<Record<string, string>> = {
  "data.name": "Enter a name.",
  "data.label": "Enter a label.",
  "data.condition": "Enter a condition.",
};

export const NO_ISSUES: ValidationIssues = groupIssues([], []);

/** Errors first. What is said of no step or edge of its own stands only in `all`. */
export function groupIssues(errors: readonly ApiIssue[], warnings: readonly ApiIssue[]): ValidationIssues {
  const all = [
    ...errors.map((issue) => ({ ...issue, message: issueMessage(issue), isError: true })),
    ...warnings.map((issue) => ({ ...issue, message: issueMessage(issue), isError: false })),
  ];
  const group = (kind: ApiIssue["kind"]) => {
    const groups = new Map<string, ValidationIssue[]>();
    for (const issue of all) {
      if (issue.kind !== kind || issue.id === null) continue;
      groups.set(issue.id, [...(groups.get(issue.id) ?? []), issue]);
    }
    return groups;
  };
  return { all, byNode: group("node"), byEdge: group("edge"), errors: errors.length, warnings: warnings.length };
}

/** A required recording has a better sentence than other required fields. */
function issueMessage({ code, field, message }: ApiIssue): string {
  if (code === "field_required" && message !== "Field required.") return message;
  const required = code === "field_required" ? REQUIRED_FIELDS[field ?? ""] : undefined;
  return required ?? MESSAGES[code] ?? inPageWords(message);
}

/** The sentence at a field: `name` as the specification has it, or a row of a collection such as `headers.0.key`. */
export function issueAt(found: readonly ValidationIssue[], name: string): string | undefined {
  return found.find((issue) => issue.field === `data.${name}`)?.message;
}

/** What has no field of its own in a form that has these fields. */
export function issuesBeside(found: readonly ValidationIssue[], names: readonly string[]): ValidationIssue[] {
  return found.filter((issue) => {
    const field = issue.field?.replace(/^data\./, "") ?? "";
    return !names.some((name) => field === name || field.startsWith(`${name}.`));
  });
}

/** "Greeting" or "Greeting → Goodbye": where a issue is, for a list. Empty for the agent as a whole. */
export function locationOf(issue: ValidationIssue, definition: Definition): string {
  const nameOf = (id: string) => {
    const node = definition.nodes.find((node) => node.id === id);
    return node === undefined ? "nowhere" : nodeName(node);
  };
  if (issue.kind === "node" && issue.id !== null) return nameOf(issue.id);
  const edge = issue.kind === "edge" ? definition.edges.find((edge) => edge.id === issue.id) : undefined;
  return edge === undefined
    ? ""
    : `${nameOf(edge.source)} → ${nameOf(edge.target)}${edgeLabel(edge) === "" ? "" : ` (${edgeLabel(edge)})`}`;
}
