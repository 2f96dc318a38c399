/** Finds steps, edges and notes by the words in them. */

import { type Definition, nodeName, edgeLabel } from "./definition";
import { notesOf } from "./editing/notes";

export interface Hit {
  kind: "node" | "edge" | "note";
  id: string;
  title: string;
  /** The words around what was found, when that is not the title. */
  excerpt: string;
}

const AROUND = 32;
const MOST = 20;

/** Steps whose names match come first, then texts, edges and notes. */
export function search(definition: Definition, query: string): Hit[] {
  const expected = query.trim().toLowerCase();
  if (expected === "") return [];
  const named: Hit[] = [];
  const texts: Hit[] = [];
  for (const node of definition.nodes) {
    const title = nodeName(node);
    if (title.toLowerCase().includes(expected)) named.push({ kind: "node", id: node.id, title, excerpt: "" });
    else if (has(node.data, expected))
      texts.push({ kind: "node", id: node.id, title, excerpt: excerpt(node.data, expected) });
  }
  const edges = definition.edges
    .filter((edge) => has(edge.data, expected))
    .map((edge): Hit => ({
      kind: "edge",
      id: edge.id,
      title: edgeLabel(edge) || edge.id,
      excerpt: excerpt(edge.data, expected),
    }));
  const notes = notesOf(definition)
    .filter((note) => has(note.text, expected))
    .map((note): Hit => ({ kind: "note", id: note.id, title: "Note", excerpt: excerpt(note.text, expected) }));
  return [...named, ...texts, ...edges, ...notes].slice(0, MOST);
}

function has(value: unknown, expected: string): boolean {
  return strings(value).some((words) => words.toLowerCase().includes(expected));
}

function excerpt(value: unknown, expected: string): string {
  const words = strings(value).find((candidate) => candidate.toLowerCase().includes(expected)) ?? "";
  const at = words.toLowerCase().indexOf(expected);
  const from = Math.max(0, at - AROUND);
  const until = Math.min(words.length, at + expected.length + AROUND);
  return `${from > 0 ? "…" : ""}${words.slice(from, until).replace(/\s+/g, " ")}${until < words.length ? "…" : ""}`;
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(strings);
  return [];
}
