/** Requests read from a cURL command or an OpenAPI document, as the fields of a tool. Pure. */

import type { Parameter, ToolDraft } from "../tool-draft";

export interface ImportedRequest {
  /** "GET /orders/{id}". */
  title: string;
  summary: string;
  part: Pick<ToolDraft, "name" | "description" | "url" | "method" | "headers" | "parameters" | "hasSideEffects">;
  /** What could not be imported, in sentences. */
  notices: string[];
}

export type Imported = { requests: ImportedRequest[] } | { problem: string };

/** Says why the text cannot be read, to the person who pasted it. */
export class Unreadable extends Error {}

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
/** The API's limits. */
export const MAX_PARAMETERS = 40;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 2000;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Turns "listOrders" and "list-orders" into "list_orders", a name that every model accepts. */
export function nameFrom(words: string, otherwise: string): string {
  const name = words
    .normalize("NFKD")
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z\d]+/g, "_")
    .replace(/^_+/, "")
    .replace(/_+$/, "")
    .toLowerCase()
    .slice(0, MAX_NAME);
  if (name === "") return otherwise;
  return /^\d/.test(name) ? `_${name}`.slice(0, MAX_NAME) : name;
}

/** Returns "get_orders" for GET https://example.com/v1/orders/{{id}}. */
export function nameOfRequest(method: string, url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, "").split(/[?#]/)[0] ?? "";
  const words = path.split("/").filter((part) => part !== "" && !part.includes("{{") && !/^v\d+$/i.test(part));
  return nameFrom(`${method} ${words.slice(-2).join(" ")}`, "request");
}

export function cut(words: string): string {
  const line = words.trim();
  return line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION - 1)}…` : line;
}

/** Headers that hold secrets belong in a credential; those that every request has are not repeated. */
export function kindOfHeader(name: string): "secret" | "sent" | "own" {
  const plain = name.toLowerCase();
  if (/^(proxy-)?authorization$|^cookie$|(api|access|auth|subscription)[-_]?key|token|secret|password/.test(plain))
    return "secret";
  return SENT.has(plain) ? "sent" : "own";
}

const SENT = new Set(["content-type", "content-length", "host", "connection", "accept-encoding", "user-agent"]);

/** Collects arguments under unique names. */
export class Arguments {
  readonly list: Parameter[] = [];
  leftOut = 0;
  private readonly taken = new Set<string>();

  /** Returns the argument's name, or undefined if there are too many arguments. */
  add(words: string, parameter: Omit<Parameter, "name">): string | undefined {
    if (this.list.length >= MAX_PARAMETERS) {
      this.leftOut += 1;
      return undefined;
    }
    const wanted = /^[A-Za-z_]\w{0,63}$/.test(words) ? words : nameFrom(words, "value");
    let name = wanted;
    for (let count = 2; this.taken.has(name); count += 1) name = `${wanted.slice(0, MAX_NAME - 4)}_${count}`;
    this.taken.add(name);
    this.list.push({ name, ...parameter, description: cut(parameter.description) });
    return name;
  }

  notices(): string[] {
    if (this.leftOut === 0) return [];
    return [`A tool can have ${MAX_PARAMETERS} arguments; ${this.leftOut} were left out.`];
  }
}
