/** One shape for everything that a request may fail with, and the sentence that the reader sees. */

import { type FieldLabels, type FieldProblem, fieldMessage, fieldMessageWithLabel, labelOf } from "./field-messages";

export interface WorkflowProblem {
  kind: string;
  id: string | null;
  field: string | null;
  code?: string;
  message: string;
}

/** What is wrong with one row of a file. */
export interface RowError {
  row: number;
  column: string | null;
  message: string;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problems: WorkflowProblem[] = [],
    readonly fields: FieldProblem[] = [],
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** The first wrong rows of a file, and how many there are in all. */
  rows: RowError[] = [];
  totalRows = 0;
  /** The path of the one field that is wrong. */
  field: string | null = null;
}

/** No answer came: the server or the network is away. */
export class ConnectionError extends Error {
  constructor() {
    super("Cannot reach the server. Check that it is running.");
    this.name = "ConnectionError";
  }
}

/** Like `fetch`; throws a ConnectionError where no answer comes. What the caller called off stays an AbortError. */
export async function fetchOrFail(input: RequestInfo, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    throw error instanceof TypeError ? new ConnectionError() : error;
  }
}

/** The error in an answer with a status ≥ 400, whatever its body is. */
export function errorFrom(status: number, body: unknown): ApiError {
  const { detail, code, field } = isObject(body) ? body : {};
  const name = typeof code === "string" ? code : "error";
  if (typeof detail === "string" && detail !== "") {
    const error = new ApiError(status, name, detail);
    error.field = typeof field === "string" ? field : null;
    return error;
  }
  if (Array.isArray(detail)) {
    const fields = detail.map(fieldProblem).filter((problem) => problem !== null);
    return new ApiError(status, "invalid", sentencesOf(fields) || fallback(status), [], fields);
  }
  if (isObject(detail) && typeof detail["message"] === "string")
    return withRows(new ApiError(status, name, detail["message"]), detail);
  if (isObject(detail) && Array.isArray(detail["errors"])) {
    const problems = detail["errors"].filter(isObject) as unknown as WorkflowProblem[];
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    return new ApiError(status, name, `The agent has ${count}.`, problems);
  }
  return new ApiError(status, name, fallback(status));
}

function withRows(error: ApiError, detail: Record<string, unknown>): ApiError {
  const { errors, total_errors: total } = detail;
  if (Array.isArray(errors)) error.rows = errors.filter(isObject) as unknown as RowError[];
  error.totalRows = typeof total === "number" ? total : error.rows.length;
  return error;
}

/** The sentence for any thrown value, network failures included. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return error instanceof Error ? error.message : "Something went wrong.";
}

function fieldProblem(item: unknown): FieldProblem | null {
  if (!isObject(item) || typeof item["msg"] !== "string") return null;
  const path = Array.isArray(item["loc"])
    ? item["loc"].filter((part, index) => !(index === 0 && PLACES.includes(String(part)))).join(".")
    : "";
  const type = typeof item["type"] === "string" ? item["type"] : "";
  const problem = { path, type, message: item["msg"] };
  return typeof item["limit"] === "number" ? { ...problem, limit: item["limit"] } : problem;
}

/** Where a value stood in the request; the rest of a location is its path. */
const PLACES = ["body", "query", "path", "header"];

function sentencesOf(problems: readonly FieldProblem[], labels: FieldLabels = {}): string {
  return problems.map((problem) => fieldMessageWithLabel(labelOf(problem.path, labels), problem)).join(" ");
}

/** Refusals that name no field and are about one all the same. */
const FIELD_OF: Record<string, string> = {
  webhook_url_refused: "url",
  credential_name_taken: "name",
  already_member: "email",
  wrong_password: "current_password",
  telephony_configuration_name_taken: "name",
  address_invalid: "address",
  phone_number_taken: "address",
  phone_number_routing_conflict: "address",
  no_number_available: "phone_number",
  email_taken: "email",
  user_not_found: "email",
};

/** The wrong fields of a refused request, whichever way the refusal names them. */
export function problemsOf(error: unknown, labels: FieldLabels = {}): readonly FieldProblem[] {
  if (!(error instanceof ApiError)) return [];
  const path = error.field ?? FIELD_OF[error.code];
  if (path === undefined || error.fields.length > 0) return error.fields;
  // Sentences about a choice of models begin with the path of their field.
  const message = error.message.startsWith(`${path} `)
    ? `${labelOf(path, labels)}${error.message.slice(path.length)}`
    : error.message;
  return [{ path, type: "", message }];
}

/**
 * The sentence for each field of a form. A problem deep inside a field (`config.fields.api_key`) stands at the longest
 * name that the form has (`config` or `config.fields.api_key`); union tags in the middle of a path are skipped over.
 */
export function fieldErrors<Name extends string>(
  error: unknown,
  names: readonly Name[],
  labels: FieldLabels = {},
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const problem of problemsOf(error, labels)) {
    const name = [...names].sort((a, b) => b.length - a.length).find((candidate) => covers(candidate, problem.path));
    if (name !== undefined && found[name] === undefined)
      found[name] = fieldMessage(labels[name] ?? labelOf(problem.path, labels), problem);
  }
  return found;
}

/** What a form has to say beside its fields: nothing when every problem stands at one of them. */
export function formError(error: unknown, names: readonly string[], labels: FieldLabels = {}): string | null {
  if (error === null || error === undefined) return null;
  const problems = problemsOf(error, labels);
  if (problems.length === 0) return messageOf(error);
  const others = problems.filter((problem) => !names.some((name) => covers(name, problem.path)));
  return others.length === 0 ? null : sentencesOf(others, labels);
}

/** Whether the steps of `name` come in `path` in their order, beginning with its first. */
function covers(name: string, path: string): boolean {
  const steps = placeOf(path).split(".");
  const expected = placeOf(name).split(".");
  if (steps[0] !== expected[0]) return false;
  let at = 0;
  for (const step of steps) if (step === expected[at]) at += 1;
  return at === expected.length;
}

/** The models of an organization and those of an agent, whatever the body is that they stand in. */
function placeOf(path: string): string {
  return path.replace(/^(services|workflow_configurations\.models)\./, "models.");
}

function fallback(status: number): string {
  if (status >= 500) return `Server error (${status}). See the server log for details.`;
  if (status === 404) return "Not found.";
  if (status === 429) return "Too many requests. Wait a moment and try again.";
  return `The request was rejected (${status}).`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
