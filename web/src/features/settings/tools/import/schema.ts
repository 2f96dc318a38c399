/** Reads the JSON Schemas of an OpenAPI document: follows references and returns types of arguments. */

import { isObject, textOf } from "./imported";

type Schema = Record<string, unknown>;

/** References and nested schemas are followed to this depth, because documents can be circular. */
const MAX_HOPS = 12;

export type Resolve = (value: unknown) => Schema;

/** Follows references within the document; missing and external ones become an empty object. */
export function resolverOf(document: Schema): Resolve {
  return (value) => {
    let found = value;
    for (let hops = 0; hops < MAX_HOPS; hops += 1) {
      if (!isObject(found)) return {};
      const reference = found["$ref"];
      if (typeof reference !== "string") return found;
      found = reference.startsWith("#/") ? follow(document, reference.slice(2)) : undefined;
    }
    return {};
  };
}

function follow(document: Schema, path: string): unknown {
  return path.split("/").reduce<unknown>((place, part) => {
    if (!isObject(place)) return undefined;
    const key = unescaped(part);
    return Object.hasOwn(place, key) ? place[key] : undefined;
  }, document);
}

function unescaped(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

export interface Properties {
  properties: Schema;
  required: string[];
}

/** Returns the fields of an object, including one composed of several schemas; null for anything else. */
export function propertiesOf(value: unknown, resolve: Resolve, within: readonly Schema[] = []): Properties | null {
  const schema = resolve(value);
  // a schema that contains itself adds nothing
  if (within.includes(schema) || within.length >= MAX_HOPS) return null;
  const parts: unknown[] = Array.isArray(schema["allOf"]) ? schema["allOf"] : [];
  const found = [...parts, ...choicesOf(schema).slice(0, 1)]
    .map((part) => propertiesOf(part, resolve, [...within, schema]))
    .filter((part) => part !== null);
  const own = isObject(schema["properties"]) ? schema["properties"] : null;
  if (own === null && found.length === 0) return null;
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string")
    : [];
  return {
    properties: Object.assign({}, ...found.map((part) => part.properties), own ?? {}) as Schema,
    required: [...found.flatMap((part) => part.required), ...required],
  };
}

export function typeOf(value: unknown, resolve: Resolve, depth = 0): string {
  const schema = resolve(value);
  const named: unknown[] = Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]];
  const type = named.find((name) => name !== "null" && name !== undefined);
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean" || type === "array" || type === "object") return type;
  if (type === "string") return "string";
  const [choice] = [...choicesOf(schema), ...(Array.isArray(schema["allOf"]) ? (schema["allOf"] as unknown[]) : [])];
  if (choice !== undefined && depth < MAX_HOPS) return typeOf(choice, resolve, depth + 1);
  return isObject(schema["properties"]) ? "object" : "string";
}

/** Describes a value for the model that fills it in: the author's description, allowed values, an object's fields. */
export function describe(value: unknown, resolve: Resolve): string {
  const schema = resolve(value);
  const values = Array.isArray(schema["enum"]) ? schema["enum"].filter((one) => one !== null).map(String) : [];
  const shape = ["object", "array"].includes(typeOf(schema, resolve)) ? shapeOf(schema, resolve, 0) : "";
  const format = textOf(schema["format"]);
  return [
    textOf(schema["description"]) || textOf(schema["title"]),
    values.length > 0 ? `One of: ${values.slice(0, MAX_VALUES).join(", ")}.` : "",
    shape === "" || shape === "object" ? "" : `As ${shape}.`,
    DATES[format] ?? "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

const MAX_VALUES = 40;
const MAX_FIELDS = 12;
const DEEPEST = 1;
const DATES: Record<string, string> = { date: "As 2026-01-31.", "date-time": "As 2026-01-31T14:05:00Z." };

function shapeOf(value: unknown, resolve: Resolve, depth: number): string {
  const schema = resolve(value);
  const type = typeOf(schema, resolve);
  if (type === "array") return depth > DEEPEST ? "array" : `[${shapeOf(schema["items"], resolve, depth + 1)}]`;
  const fields = type === "object" && depth <= DEEPEST ? propertiesOf(schema, resolve) : null;
  if (fields === null) return type;
  const names = Object.keys(fields.properties).slice(0, MAX_FIELDS);
  return `{${names.map((name) => `${name}: ${shapeOf(fields.properties[name], resolve, depth + 1)}`).join(", ")}}`;
}

function choicesOf(schema: Schema): unknown[] {
  const choices = [schema["oneOf"], schema["anyOf"]].find((list) => Array.isArray(list)) as unknown[] | undefined;
  return (choices ?? []).filter((choice) => isObject(choice) && choice["type"] !== "null");
}
