/** Which variables a text of an agent can use. */

import { type Data, type Definition, object, text } from "./definition";

/** What every run has. */
const BUILT_IN = ["current_time", "current_weekday", "phone_number"];

/** Set for the agent, read in its conversations, used in its texts; then the built-in ones. Each once. */
export function knownVariables(definition: Definition, set: Data): string[] {
  const read = definition.nodes.flatMap((node) => {
    const rows = node.data["extraction_variables"];
    return node.data["extraction_enabled"] === true && Array.isArray(rows)
      ? rows.map((row) => text(object(row)["name"]))
      : [];
  });
  const used = definition.nodes.flatMap((node) => Object.values(node.data).flatMap((value) => usedIn(text(value))));
  return [...new Set([...Object.keys(set), ...read, ...used, ...BUILT_IN])].filter((name) => name !== "");
}

function usedIn(words: string): string[] {
  return [...words.matchAll(/\{\{\s*([\w.]+)/g)].map((match) => match[1] ?? "");
}

/** Set in every run, as the server knows them. */
const OF_EVERY_RUN = new Set([
  "phone_number",
  "caller_number",
  "called_number",
  "call_language",
  "direction",
  "mode",
  "provider",
  "campaign_id",
  "call_id",
  "workflow_id",
  "workflow_name",
  "workflow_uuid",
  "workflow_run_id",
  "workflow_run_name",
  "source_uuid",
]);
const NODE_TEXTS = ["prompt", "greeting", "say", "offline_say"];
const EDGE_TEXTS = ["condition", "transition_speech"];

export interface GivenVariable {
  name: string;
  /** Whether every text that uses it says what stands there without it. */
  hasDefault: boolean;
}

/** What an agent's texts use and only the start of a call can give: it is neither set for the agent nor read in a conversation. */
export function givenVariables(definition: Definition, set: Data): GivenVariable[] {
  const read = definition.nodes.flatMap((node) => {
    const rows = node.data["extraction_variables"];
    return Array.isArray(rows) ? rows.map((row) => text(object(row)["name"])) : [];
  });
  const known = new Set([...Object.keys(set), ...read, ...OF_EVERY_RUN]);
  const given = new Map<string, boolean>();
  for (const [name, hasDefault] of [
    ...definition.nodes.flatMap(({ data }) => usesIn(data, NODE_TEXTS)),
    ...definition.edges.flatMap(({ data }) => usesIn(data, EDGE_TEXTS)),
  ])
    if (!known.has(name) && !/^current_(time|weekday)/.test(name))
      given.set(name, hasDefault && (given.get(name) ?? true));
  return [...given].map(([name, hasDefault]) => ({ name, hasDefault }));
}

function usesIn(data: Data, fields: readonly string[]): [string, boolean][] {
  return fields.flatMap((field) =>
    [...text(data[field]).matchAll(/\{\{([^{}|]+)(\|[^{}]*)?\}\}/g)].map((found): [string, boolean] => {
      const path = (found[1] ?? "").trim().replace(/^(initial_context|gathered_context|extracted_variables)\./, "");
      return [path.split(".")[0] ?? "", found[2] !== undefined];
    }),
  );
}
