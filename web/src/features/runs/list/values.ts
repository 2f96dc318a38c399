/** Conditions on what a run was given or learned, as they stand in the page's address: pure. */

export const OPERATORS = ["contains", "is", "number", "date", "yes", "no"] as const;
export type Operator = (typeof OPERATORS)[number];

/** One of a run's values: `name` begins with `gathered.` (learned) or `context.` (given). */
export interface ValueFilter {
  name: string;
  way: Operator;
  /** A text, or several texts with commas between. */
  text?: string;
  /** Numbers or days, both included. */
  from?: string;
  to?: string;
}

export interface Criterion {
  field: string;
  type: "number" | "text" | "select" | "date" | "boolean";
  value: unknown;
}

const NUMBER = /^-?\d+(\.\d+)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

export function readValues(raw: unknown): ValueFilter[] | undefined {
  const found = (Array.isArray(raw) ? raw : []).flatMap((one: unknown) => {
    const { name, way, text, from, to } = (typeof one === "object" && one !== null ? one : {}) as Record<
      string,
      unknown
    >;
    const known = OPERATORS.find((candidate) => candidate === way);
    if (known === undefined || typeof name !== "string" || !isNamed(name)) return [];
    return [{ name, way: known, ...word("text", text), ...word("from", from), ...word("to", to) }];
  });
  return found.length > 0 ? found : undefined;
}

function word(name: string, value: unknown): Record<string, string> {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? { [name]: text } : {};
}

function isNamed(name: string): boolean {
  return /^(context|gathered)\../.test(name);
}

/** Null while something is missing of it. */
export function criterionOf({ name, way, text = "", from = "", to = "" }: ValueFilter): Criterion | null {
  if (!isNamed(name)) return null;
  if (way === "yes" || way === "no") return { field: name, type: "boolean", value: way === "yes" };
  if (way === "contains") return text === "" ? null : { field: name, type: "text", value: text };
  if (way === "is") {
    const options = text
      .split(",")
      .map((option) => option.trim())
      .filter((option) => option !== "");
    return options.length === 0 ? null : { field: name, type: "select", value: options };
  }
  const [expected, low, high] = way === "number" ? ([NUMBER, "min", "max"] as const) : ([DAY, "from", "to"] as const);
  const bound = (end: string) => (way === "number" ? Number(end) : end);
  const value = {
    ...(expected.test(from) ? { [low]: bound(from) } : {}),
    ...(expected.test(to) ? { [high]: bound(to) } : {}),
  };
  return Object.keys(value).length === 0 ? null : { field: name, type: way, value };
}
