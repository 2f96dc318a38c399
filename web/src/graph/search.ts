/** Finds steps and ways by any words in them. */

import { type Definition, stepName, wayLabel } from "./definition";

export interface Hit {
  kind: "step" | "way";
  id: string;
  title: string;
  /** The words around what was found, when that is not the title. */
  excerpt: string;
}

const AROUND = 32;
const MOST = 20;

/** Steps whose name has the words come first, then texts, then ways. */
export function search(definition: Definition, query: string): Hit[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  const named: Hit[] = [];
  const texts: Hit[] = [];
  for (const node of definition.nodes) {
    const title = stepName(node);
    if (title.toLowerCase().includes(wanted)) named.push({ kind: "step", id: node.id, title, excerpt: "" });
    else if (has(node.data, wanted))
      texts.push({ kind: "step", id: node.id, title, excerpt: excerpt(node.data, wanted) });
  }
  const ways = definition.edges
    .filter((edge) => has(edge.data, wanted))
    .map((edge): Hit => ({
      kind: "way",
      id: edge.id,
      title: wayLabel(edge) || edge.id,
      excerpt: excerpt(edge.data, wanted),
    }));
  return [...named, ...texts, ...ways].slice(0, MOST);
}

function has(value: unknown, wanted: string): boolean {
  return strings(value).some((words) => words.toLowerCase().includes(wanted));
}

function excerpt(value: unknown, wanted: string): string {
  const words = strings(value).find((candidate) => candidate.toLowerCase().includes(wanted)) ?? "";
  const at = words.toLowerCase().indexOf(wanted);
  const from = Math.max(0, at - AROUND);
  const until = Math.min(words.length, at + wanted.length + AROUND);
  return `${from > 0 ? "…" : ""}${words.slice(from, until).replace(/\s+/g, " ")}${until < words.length ? "…" : ""}`;
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(strings);
  return [];
}
