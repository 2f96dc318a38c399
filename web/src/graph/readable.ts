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

/** A sentence of the API, which calls steps nodes, in the words of the page. Names in quotation marks stay. */
export function asSteps(words: string): string {
  return words.replace(/“[^”]*”|\bnode(s?)\b/gi, (found: string, plural?: string) => {
    if (plural === undefined) return found;
    return `${found.startsWith("N") ? "S" : "s"}tep${plural}`;
  });
}
