/** A tool while it is edited: plain fields for each category, and the definition that the API takes. Pure. */

import type { Schema } from "../../../lib/api/types";

export type Category = Schema<"CreateToolRequest">["category"];

export const CATEGORIES: { value: Category; label: string }[] = [
  { value: "http_api", label: "HTTP request" },
  { value: "mcp", label: "MCP server" },
  { value: "transfer_call", label: "Transfer the call" },
  { value: "end_call", label: "End the call" },
  { value: "recording", label: "Control the recording" },
  { value: "calculator", label: "Calculator" },
];

export const RECORDING_ACTIONS = [
  { value: "pause", label: "Pause" },
  { value: "resume", label: "Resume" },
  { value: "discard", label: "Delete and stop" },
];

export interface Parameter {
  name: string;
  type: string;
  description: string;
  required: boolean;
}

export interface Place {
  name: string;
  phone_number: string;
  description: string;
}

export interface ToolDraft {
  name: string;
  description: string;
  category: Category;
  url: string;
  method: string;
  /** "Name: value", one in each line. */
  headers: string;
  credential: string | null;
  timeout: number;
  hasSideEffects: boolean;
  parameters: Parameter[];
  message: string;
  /** What a tool of the category `recording` does. */
  action: string;
  destinations: Place[];
}

export const NEW_TOOL: ToolDraft = {
  name: "",
  description: "",
  category: "http_api",
  url: "",
  method: "GET",
  headers: "",
  credential: null,
  timeout: 5000,
  hasSideEffects: false,
  parameters: [],
  message: "",
  action: "pause",
  destinations: [{ name: "", phone_number: "", description: "" }],
};

type Config = Record<string, unknown>;

/** `old` is what is stored: settings that this form does not show stay as they are. */
export function definitionOf(draft: ToolDraft, old: unknown): Schema<"CreateToolRequest">["definition"] {
  const kept = isObject(old) && old["type"] === draft.category && isObject(old["config"]) ? old["config"] : {};
  const made: Config = { type: draft.category, schema_version: 1 };
  if (draft.category !== "calculator") made["config"] = { ...kept, ...configOf(draft) };
  return made as unknown as Schema<"CreateToolRequest">["definition"];
}

function configOf(draft: ToolDraft): Config {
  const spoken =
    draft.message === "" ? { messageType: "none" } : { messageType: "custom", customMessage: draft.message };
  switch (draft.category) {
    case "http_api":
      return {
        url: draft.url,
        method: draft.method,
        headers: headersOf(draft.headers),
        credential_uuid: draft.credential,
        timeout_ms: draft.timeout,
        has_side_effects: draft.hasSideEffects,
        parameters: draft.parameters,
        ...(draft.message === "" ? {} : { customMessage: draft.message, customMessageType: "text" }),
      };
    case "mcp":
      return { url: draft.url, credential_uuid: draft.credential };
    case "transfer_call":
      return { destinations: draft.destinations, ...spoken };
    case "end_call":
      return spoken;
    case "recording":
      return { action: draft.action, ...spoken };
    default:
      return {};
  }
}

export function draftOf(tool: Schema<"ToolResponse">): ToolDraft {
  const config = isObject(tool.definition["config"]) ? tool.definition["config"] : {};
  const text = (name: string) => (typeof config[name] === "string" ? config[name] : "");
  const single = text("destination");
  const destinations = listOf<Place>(config["destinations"]);
  return {
    ...NEW_TOOL,
    name: tool.name,
    description: tool.description ?? "",
    category: tool.category as Category,
    url: text("url"),
    method: text("method") || "GET",
    headers: isObject(config["headers"])
      ? Object.entries(config["headers"])
          .map(([name, value]) => `${name}: ${String(value)}`)
          .join("\n")
      : "",
    credential: text("credential_uuid") || null,
    timeout: typeof config["timeout_ms"] === "number" ? config["timeout_ms"] : NEW_TOOL.timeout,
    hasSideEffects: config["has_side_effects"] === true,
    parameters: listOf<Parameter>(config["parameters"]),
    message: text("customMessage"),
    action: text("action") || NEW_TOOL.action,
    destinations: destinations.length > 0 ? destinations : [{ name: "team", phone_number: single, description: "" }],
  };
}

/** Lines without a colon are names without a value. */
export function headersOf(lines: string): Record<string, string> {
  const pairs = lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", ...rest] = line.split(":");
      return [name.trim(), rest.join(":").trim()] as const;
    });
  return Object.fromEntries(pairs);
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value.filter(isObject) as unknown as T[]) : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
