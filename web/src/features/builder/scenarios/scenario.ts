/** A scenario as its form sees it: plain JSON, in which what the form does not show stays as it is. Pure. */

import { type Data, type Definition, edgeLabel, nodeName, object, text } from "../../../graph/definition";
import { humanize } from "../../../lib/format/format";

export interface PlainScenario extends Data {
  name: string;
}

export interface ScenarioIssue {
  path: string;
  code?: string;
  message: string;
}

export const NEW_SCENARIO: PlainScenario = { name: "", caller: { turns: [""] }, expect: {} };

export function titleOf(scenario: PlainScenario): string {
  return text(scenario["title"]) || scenario.name;
}

/** "Asks for a day!" → "asks-for-a-day", and another number while others have the name. */
export function nameFrom(title: string, taken: readonly string[]): string {
  const base =
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 54)
      .replace(/^-+|-+$/g, "") || "scenario";
  let name = base;
  for (let number = 2; taken.includes(name); number += 1) name = `${base}-${number}`;
  return name;
}

export function valueAt(scenario: PlainScenario, part: string, field: string): unknown {
  return object(scenario[part])[field];
}

/** With a field of `caller` or `expect` set; what is empty is left out, so that it expects nothing. */
export function withField(scenario: PlainScenario, part: string, field: string, value: unknown): PlainScenario {
  const rest = Object.fromEntries(Object.entries(object(scenario[part])).filter(([name]) => name !== field));
  const isEmpty = value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  return { ...scenario, [part]: isEmpty ? rest : { ...rest, [field]: value } };
}

/** With a field of the caller's manner set; what is empty is left out. */
export function withManner(scenario: PlainScenario, field: string, value: unknown): PlainScenario {
  const manner = object(valueAt(scenario, "caller", "manner"));
  const next = withField({ name: scenario.name, manner }, "manner", field, value)["manner"];
  return withField(scenario, "caller", "manner", Object.keys(object(next)).length > 0 ? next : null);
}

export function listAt(scenario: PlainScenario, part: string, field: string): string[] {
  const value = valueAt(scenario, part, field);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export type ActKind = "say" | "press" | "silence_s" | "hang_up";

/** One turn of the caller. */
export interface Act {
  kind: ActKind;
  value: string;
  /** Words that the agent's reply must contain. */
  reply: string;
}

const KINDS: readonly ActKind[] = ["say", "press", "silence_s", "hang_up"];

export function turnsOf(scenario: PlainScenario): Act[] {
  const turns = valueAt(scenario, "caller", "turns");
  if (!Array.isArray(turns)) return [];
  return turns.map((turn: unknown) => {
    if (typeof turn === "string") return { kind: "say", value: turn, reply: "" };
    const data = object(turn);
    const kind = KINDS.find((one) => one in data) ?? "say";
    const value = data[kind];
    return {
      kind,
      value: typeof value === "string" || typeof value === "number" ? String(value) : "",
      reply: text(data["agent_says"]),
    };
  });
}

export function withTurns(scenario: PlainScenario, turns: readonly Act[]): PlainScenario {
  return withField(scenario, "caller", "turns", turns.map(storedTurn));
}

function storedTurn({ kind, value, reply }: Act): unknown {
  const seconds = Number(value);
  const act = {
    say: { say: value },
    press: { press: value },
    silence_s: { silence_s: value.trim() !== "" && Number.isFinite(seconds) ? seconds : value },
    hang_up: { hang_up: true },
  }[kind];
  if (reply !== "") return { ...act, agent_says: reply };
  return kind === "say" ? value : act;
}

/** The issue of a field, in the form's words; `caller.turns.1` has those of all that is inside. */
export function issueAt(issues: readonly ScenarioIssue[], field: string): string | undefined {
  const found = issues.find(({ path }) => covers(field, path));
  return found === undefined ? undefined : issueSentence(found);
}

/** Issues that stand at none of the fields, each with its place. */
export function otherIssues(issues: readonly ScenarioIssue[], fields: readonly string[]): string[] {
  return issues
    .filter(({ path }) => !fields.some((field) => covers(field, path)))
    .map(({ path, message }) => (placeOf(path) === "" ? sentence(message) : `${placeOf(path)}: ${message}.`));
}

const NOT_A_NUMBER = ["float_parsing", "float_type", "int_parsing", "int_type"];

/** What the server's own words say to programmers, in the form's words. */
function issueSentence({ path, code = "", message }: ScenarioIssue): string {
  if (code === "string_pattern_mismatch" && path.endsWith(".press")) return "Enter keys: 0–9, *, #, or A–D.";
  if (NOT_A_NUMBER.includes(code)) return "Enter a number.";
  return sentence(message);
}

function covers(field: string, path: string): boolean {
  const place = placeOf(path);
  return place === field || (place.startsWith(`${field}.`) && field !== "caller" && field !== "expect");
}

/** `scenarios[0].caller.turns[1].say` → `caller.turns.1.say`. */
function placeOf(path: string): string {
  return path.replace(/^scenarios\[\d+\]\.?/, "").replace(/\[(\d+)\]/g, ".$1");
}

function sentence(message: string): string {
  if (message === "string should have at least 1 character") return "Fill this in.";
  const first = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** Failed expectations, with the names of steps and transitions instead of their ids. */
export function faultSentence(fault: { message: string }, { nodes, edges }: Definition): string {
  const named = fault.message.replace(/\b(node|edge|at) (\S+?)(?=[\s,.;:]|$)/g, (whole, kind: string, id: string) => {
    const edge = kind === "edge" ? edges.find((one) => one.id === id) : undefined;
    if (edge !== undefined) return `transition “${edgeLabel(edge) || id}”`;
    const node = kind === "edge" ? undefined : nodes.find((one) => one.id === id);
    if (node !== undefined) return `${kind === "at" ? "at" : "step"} “${nodeName(node)}”`;
    return whole;
  });
  return sentence(named);
}

const STATES: Record<string, string> = {
  queued: "Waiting for a worker",
  running: "Running",
  passed: "Passed",
  failed: "Failed",
  canceled: "Canceled",
  out_of_budget: "Stopped: over its budget",
  broken: "Could not run",
};

export function stateName(state: string): string {
  return STATES[state] ?? humanize(state);
}
