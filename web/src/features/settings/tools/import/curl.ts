/** Reads a cURL command. */

import {
  Arguments,
  type ImportedRequest,
  METHODS,
  Unreadable,
  isObject,
  kindOfHeader,
  nameOfRequest,
} from "./imported";
import { shellWords } from "./words";

export function isCurl(text: string): boolean {
  return /^\s*(?:\$\s+)?curl(?:\.exe)?\s/i.test(text);
}

/** Short options that take a value, with their long names. */
const SHORT: Record<string, string> = {
  X: "request",
  H: "header",
  d: "data",
  u: "user",
  F: "form",
  b: "cookie",
  A: "user-agent",
  e: "referer",
  o: "output",
  m: "max-time",
  x: "proxy",
  E: "cert",
  w: "write-out",
  T: "upload-file",
  c: "cookie-jar",
  K: "config",
  r: "range",
};
const LONG = new Set([
  ...Object.values(SHORT),
  "url",
  "json",
  "data-raw",
  "data-binary",
  "data-ascii",
  "data-urlencode",
  "connect-timeout",
  "cacert",
  "key",
  "retry",
  "retry-delay",
  "resolve",
  "max-redirs",
  "oauth2-bearer",
]);
const FLAGS: Record<string, string> = { G: "get", I: "head" };

interface Command {
  options: [string, string][];
  flags: Set<string>;
}

export function readCurl(text: string): ImportedRequest {
  const command = parse(shellWords(text.replace(/^\s*(?:\$\s+)?/, "")).slice(1));
  const valuesOf = (...names: string[]) =>
    command.options.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const address = valuesOf("url")[0];
  if (address === undefined) throw new Unreadable("The cURL command has no URL.");
  const args = new Arguments();
  const notices: string[] = [];
  const data = valuesOf("data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json");
  const isQuery = command.flags.has("get");
  const method = methodOf(command, data.length > 0 && !isQuery);
  const url = templateOf(isQuery ? withQuery(address, data) : address, args, notices);
  const headers = headersOf(valuesOf("header"), notices);
  if (valuesOf("user", "oauth2-bearer", "cookie").length > 0)
    notices.push("The command's login was left out. Choose a credential instead.");
  if (valuesOf("form", "upload-file").length > 0)
    notices.push("Tools send JSON, not forms or files. These parts of the command were left out.");
  if (!isQuery && data.length > 0) addBody(data, method, args, notices);
  return {
    title: `${method} ${url}`,
    summary: "",
    part: {
      name: nameOfRequest(method, url),
      description: "",
      url,
      method,
      headers: headers.join("\n"),
      parameters: args.list,
      hasSideEffects: method !== "GET",
    },
    notices: [...notices, ...args.notices()],
  };
}

function parse(words: readonly string[]): Command {
  const options: [string, string][] = [];
  const flags = new Set<string>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const take = () => words[(at += 1)] ?? "";
    if (word.startsWith("--")) {
      const name = word.slice(2);
      if (LONG.has(name)) options.push([name, take()]);
      else flags.add(name);
    } else if (word.startsWith("-") && word !== "-") readShort(word.slice(1), options, flags, take);
    else options.push(["url", word]);
  }
  return { options, flags };
}

/** "-sSXPOST": flags, then an option whose value is the rest or the next word. */
function readShort(letters: string, options: [string, string][], flags: Set<string>, take: () => string): void {
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? "";
    const name = SHORT[letter];
    if (name !== undefined) {
      options.push([name, letters.slice(at + 1) || take()]);
      return;
    }
    flags.add(FLAGS[letter] ?? letter);
  }
}

function methodOf({ options, flags }: Command, hasBody: boolean): string {
  const given = options.find(([name]) => name === "request")?.[1].toUpperCase();
  const sent = options.some(([name]) => name === "form")
    ? "POST"
    : options.some(([name]) => name === "upload-file") && "PUT";
  const method = given ?? (flags.has("head") ? "HEAD" : hasBody ? "POST" : sent || "GET");
  if (!METHODS.some((known) => known === method))
    throw new Unreadable(`The command sends ${method}. Tools can send ${METHODS.join(", ")}.`);
  return method;
}

function withQuery(address: string, data: readonly string[]): string {
  return `${address}${address.includes("?") ? "&" : "?"}${data.join("&")}`;
}

/** The address, with its placeholders and query values turned into arguments. */
function templateOf(address: string, args: Arguments, notices: string[]): string {
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `https://${address}`;
  const found = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(whole);
  if (found === null) throw new Unreadable(`“${address.slice(0, 80)}” is not a web address that a tool can call.`);
  const [, origin = "", path = "", query] = found;
  const slot = (name: string, description: string) => {
    const given = args.add(name, { type: "string", description, required: true });
    return given === undefined ? "" : `{{${given}}}`;
  };
  const parts = path.split("/").map((part) => {
    const name = placeholderIn(part);
    return name === null ? part : slot(name, "");
  });
  const pairs = (query ?? "").split("&").flatMap((pair) => {
    const [name, value] = splitOnce(pair, "=");
    if (name === "") return [];
    if (kindOfHeader(name) === "secret") {
      notices.push(`“${decoded(name)}” looks like a secret and was left out of the URL. Choose a credential instead.`);
      return [];
    }
    if (value === "") return [name];
    const placeholder = placeholderIn(value);
    return [`${name}=${slot(decoded(name), placeholder === null ? exampleOf(decoded(value)) : "")}`];
  });
  return `${origin}${parts.join("/")}${pairs.length > 0 ? `?${pairs.join("&")}` : ""}`;
}

/** The name within {id}, <id>, :id, $ID and ${ID}; null for anything else. */
function placeholderIn(part: string): string | null {
  const words = decoded(part);
  const found = /^(?:\{+([\w.-]+)\}+|<([\w .-]+)>|:([A-Za-z]\w*)|\$\{?(\w+)\}?)$/.exec(words);
  return found === null ? null : found.slice(1).join("").toLowerCase();
}

function headersOf(lines: readonly string[], notices: string[]): string[] {
  return lines.flatMap((line) => {
    const [name = "", value = ""] = splitOnce(line, ":").map((part) => part.trim());
    const kind = kindOfHeader(name);
    if (kind === "secret") notices.push(`The header “${name}” was left out. Choose a credential instead.`);
    return name === "" || value === "" || kind !== "own" ? [] : [`${name}: ${value}`];
  });
}

function addBody(data: readonly string[], method: string, args: Arguments, notices: string[]): void {
  if (method === "GET" || method === "DELETE") {
    notices.push(`Tools do not send a body with ${method}, so the command's body was left out.`);
    return;
  }
  if (data.some((part) => part.startsWith("@"))) {
    notices.push("The body comes from a file that cannot be read here. Add its fields as arguments.");
    return;
  }
  const body = jsonOf(data.join("&"));
  if (isObject(body)) {
    for (const [name, value] of Object.entries(body)) addField(name, value, args, notices);
    return;
  }
  const pairs = data.join("&").split("&");
  if (body === undefined && pairs.every((pair) => /^[^={}[\]"]+=/.test(pair))) {
    notices.push("The command sends a form. Tools send the same fields as JSON.");
    for (const pair of pairs) {
      const [name, value] = splitOnce(pair, "=");
      addField(decoded(name), decoded(value), args, notices);
    }
    return;
  }
  notices.push("The body is not a JSON object, so it was left out.");
}

function addField(name: string, value: unknown, args: Arguments, notices: string[]): void {
  const type = Array.isArray(value) ? "array" : isObject(value) ? "object" : typeof value;
  const description =
    value === null || value === "" ? "" : exampleOf(typeof value === "string" ? value : JSON.stringify(value));
  const known = ["string", "number", "boolean", "object", "array"].includes(type) && value !== null ? type : "string";
  const given = args.add(name, { type: known, description, required: true });
  if (given !== undefined && given !== name)
    notices.push(`“${name}” cannot be used as an argument name. The field is sent as “${given}”.`);
}

function exampleOf(value: string): string {
  return value === "" ? "" : `For example: ${value.length > 200 ? `${value.slice(0, 200)}…` : value}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
