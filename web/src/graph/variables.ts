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
