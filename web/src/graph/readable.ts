/** Values of steps and settings as people read them: no brackets, no quotation marks, names in place of numbers that stand for something. */

/** `nameOf` gives the name of what a text stands for, where it stands for something. */
export function readable(value: unknown, nameOf: (id: string) => string | undefined = () => undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "string") return nameOf(value) ?? value;
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((item) => readable(item, nameOf)).join("\n");
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined && inner !== null && inner !== "")
    .map(([key, inner]) => `${key.replaceAll("_", " ")}: ${readable(inner, nameOf).replaceAll("\n", ", ")}`)
    .join(", ");
}

const PAGE_WORDS: Readonly<Record<string, string>> = { node: "step", edge: "transition", workflow: "agent" };

/** A sentence of the API, which calls steps nodes, transitions edges and agents workflows, in the words of the page. Names in
 * quotation marks and variables stay. */
export function inPageWords(words: string): string {
  const named = /“[^”]*”|\{\{.*?\}\}|\b(?:(an?) )?(node|edge|workflow)(s?)\b/gi;
  return words.replace(named, (found: string, article?: string, name?: string, plural?: string) => {
    const word = PAGE_WORDS[name?.toLowerCase() ?? ""];
    if (word === undefined) return found;
    if (article === undefined) return likeCase(word, found) + (plural ?? "");
    return `${likeCase(word === "agent" ? "an" : "a", article)} ${word}`;
  });
}

function likeCase(word: string, model: string): string {
  return model.charAt(0) === model.charAt(0).toUpperCase() ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}
