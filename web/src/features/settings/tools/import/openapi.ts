/** Reads OpenAPI 3 and Swagger 2 documents: each operation becomes a request. */

import {
  Arguments,
  type ImportedRequest,
  METHODS,
  Unreadable,
  cut,
  isObject,
  kindOfHeader,
  nameFrom,
  nameOfRequest,
  textOf,
} from "./imported";
import { type Resolve, describe, propertiesOf, resolverOf, typeOf } from "./schema";

type Part = Record<string, unknown>;

const MAX_OPERATIONS = 2000;

export function readOpenApi(document: Part): ImportedRequest[] {
  // YAML may have it as a number: swagger: 2.0
  const given = document["openapi"] ?? document["swagger"];
  const version = typeof given === "number" ? String(given) : textOf(given);
  if (!/^[23](\.|$)/.test(version))
    throw new Unreadable(`OpenAPI ${version.slice(0, 20)} is not supported. Use OpenAPI 3 or Swagger 2.0.`);
  const resolve = resolverOf(document);
  const paths = isObject(document["paths"]) ? document["paths"] : {};
  const requests: ImportedRequest[] = [];
  for (const [path, value] of Object.entries(paths)) {
    const item = resolve(value);
    for (const method of METHODS) {
      const operation = item[method.toLowerCase()];
      if (!isObject(operation) || requests.length >= MAX_OPERATIONS) continue;
      requests.push(readOperation({ document, item, operation, path, method, resolve }));
    }
  }
  if (requests.length === 0) throw new Unreadable("The document has no operations that a tool can call.");
  return requests;
}

interface Operation {
  document: Part;
  item: Part;
  operation: Part;
  path: string;
  method: string;
  resolve: Resolve;
}

function readOperation(source: Operation): ImportedRequest {
  const { document, operation, path, method, resolve } = source;
  const args = new Arguments();
  const notices: string[] = [];
  const placed = placeParameters(source, args, notices);
  addBody(source, args, notices);
  const server = serverOf(source);
  if (!/^https?:\/\/[^/]/i.test(server))
    notices.push("The document does not name a server. Add its address before the path.");
  const security = operation["security"] ?? document["security"];
  if (Array.isArray(security) && security.some((one) => isObject(one) && Object.keys(one).length > 0))
    notices.push("This request requires authentication. Choose a credential for it.");
  const url = `${server.replace(/\/$/, "")}${placed.path}${placed.query}`;
  const summary = textOf(operation["summary"]);
  const words = textOf(operation["description"]);
  return {
    title: `${method} ${path}`,
    summary: summary || cut(words).slice(0, 120),
    part: {
      name: nameFrom(textOf(operation["operationId"]), nameOfRequest(method, url)),
      description: cut([summary, words === summary ? "" : words].filter((part) => part !== "").join("\n")),
      url,
      method,
      headers: placed.headers.join("\n"),
      parameters: args.list,
      hasSideEffects: method !== "GET",
    },
    notices: [...notices, ...args.notices(), ...(resolve(operation)["deprecated"] === true ? [DEPRECATED] : [])],
  };
}

const DEPRECATED = "The document marks this operation as deprecated.";

function parametersOf({ item, operation, path, resolve }: Operation): Part[] {
  const list = (value: unknown): Part[] => (Array.isArray(value) ? value.map(resolve) : []);
  // an operation's parameter overrides the path's
  const found = new Map<string, Part>();
  for (const one of [...list(item["parameters"]), ...list(operation["parameters"])])
    found.set(`${textOf(one["in"])} ${textOf(one["name"])}`, one);
  // documents must list the parameters in their paths' braces, and many do not: a path sent with braces finds nothing
  for (const [, name] of path.matchAll(/\{([^{}]+)\}/g))
    if (!found.has(`path ${name}`)) found.set(`path ${name}`, { in: "path", name });
  return [...found.values()].sort((one, other) => Number(isRequired(other)) - Number(isRequired(one)));
}

function isRequired(parameter: Part): boolean {
  return parameter["required"] === true || parameter["in"] === "path";
}

function placeParameters(source: Operation, args: Arguments, notices: string[]) {
  const { method, resolve } = source;
  let { path } = source;
  const query: string[] = [];
  const headers: string[] = [];
  // arguments outside the address and headers go into the query with these two methods, and otherwise into the body
  const isInQuery = method === "GET" || method === "DELETE";
  for (const parameter of parametersOf(source)) {
    const name = textOf(parameter["name"]);
    const place = parameter["in"];
    const required = isRequired(parameter);
    const add = () => args.add(name, argumentOf(parameter, required, resolve));
    if (place === "path") {
      const given = path.includes(`{${name}}`) ? add() : undefined;
      if (given !== undefined) path = path.replaceAll(`{${name}}`, `{{${given}}}`);
    } else if (
      place === "query" &&
      kindOfHeader(name) === "secret" &&
      !/page|next|cursor|sync|continuation/i.test(name)
    )
      notices.push(`“${name}” looks like a secret and was left out. Choose a credential instead.`);
    else if (place === "query" && isInQuery && /^[A-Za-z_]\w{0,63}$/.test(name)) add();
    else if (place === "query" && required) {
      const given = add();
      if (given !== undefined) query.push(`${encodeURIComponent(name)}={{${given}}}`);
    } else if (place === "header" && required && kindOfHeader(name) === "own") {
      const given = add();
      if (given !== undefined) headers.push(`${name}: {{${given}}}`);
    } else if (place === "query" || place === "cookie" || (place === "header" && kindOfHeader(name) === "own"))
      notices.push(`“${name}” (${place}) was left out.`);
  }
  return { path, query: query.length > 0 ? `?${query.join("&")}` : "", headers };
}

/** OpenAPI 3 has the type in a schema, Swagger 2 next to the name. */
function argumentOf(parameter: Part, required: boolean, resolve: Resolve) {
  const content = isObject(parameter["content"])
    ? resolve(Object.values(parameter["content"])[0])["schema"]
    : undefined;
  const schema = resolve(parameter["schema"] ?? content ?? parameter);
  const said = textOf(parameter["description"]);
  const described = describe(schema === parameter ? { ...parameter, description: "" } : schema, resolve);
  const description = [
    said,
    described.startsWith(said) && said !== "" ? described.slice(said.length).trim() : described,
  ]
    .filter((words) => words !== "")
    .join(" ");
  return { type: typeOf(schema, resolve), description, required };
}

function addBody(source: Operation, args: Arguments, notices: string[]): void {
  const { method, resolve } = source;
  const { schema, isForm } = bodyOf(source);
  if (schema === undefined) {
    if (isForm) notices.push("Tools send JSON, so this request's form or file was left out.");
    return;
  }
  if (method === "GET" || method === "DELETE") {
    notices.push(`Tools do not send a body with ${method}, so it was left out.`);
    return;
  }
  const fields = propertiesOf(schema, resolve);
  if (fields === null) {
    notices.push("The body is not an object with fields, so it was left out.");
    return;
  }
  const names = Object.keys(fields.properties).filter((name) => resolve(fields.properties[name])["readOnly"] !== true);
  const isNeeded = (name: string) => fields.required.includes(name);
  for (const name of [...names.filter(isNeeded), ...names.filter((one) => !isNeeded(one))]) {
    const value = fields.properties[name];
    const argument = { type: typeOf(value, resolve), description: describe(value, resolve), required: isNeeded(name) };
    const given = args.add(name, argument);
    if (given !== undefined && given !== name)
      notices.push(`“${name}” cannot be used as an argument name. The field is sent as “${given}”.`);
  }
}

function bodyOf(source: Operation): { schema: unknown; isForm: boolean } {
  const { operation, resolve } = source;
  const old = parametersOf(source);
  const inBody = old.find((parameter) => parameter["in"] === "body");
  if (inBody !== undefined) return { schema: inBody["schema"], isForm: false };
  if (old.some((parameter) => parameter["in"] === "formData")) return { schema: undefined, isForm: true };
  const { content } = resolve(operation["requestBody"]);
  if (!isObject(content)) return { schema: undefined, isForm: false };
  const json = Object.entries(content).find(([type]) => /^(application\/(.+\+)?json|\*\/\*)/i.test(type));
  return { schema: json === undefined ? undefined : resolve(json[1])["schema"], isForm: json === undefined };
}

function serverOf({ document, item, operation }: Operation): string {
  const lists = [operation["servers"], item["servers"], document["servers"]];
  const servers = lists.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
  const first = servers?.[0];
  if (isObject(first)) return filled(textOf(first["url"]), first["variables"]);
  const host = textOf(document["host"]);
  if (host === "") return "";
  const schemes = Array.isArray(document["schemes"]) ? document["schemes"] : [];
  return `${schemes.includes("https") || schemes.length === 0 ? "https" : "http"}://${host}${textOf(document["basePath"])}`;
}

/** Fills in the defaults of a server's variables. */
function filled(url: string, variables: unknown): string {
  const known = isObject(variables) ? variables : {};
  return Object.entries(known).reduce(
    (address, [name, value]) => address.replaceAll(`{${name}}`, textOf(isObject(value) ? value["default"] : "")),
    url,
  );
}
