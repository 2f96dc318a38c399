/** One shape for everything that a request may fail with, and the sentence that the reader sees. */

export interface WorkflowProblem {
  kind: string;
  id: string | null;
  field: string | null;
  code?: string;
  message: string;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problems: WorkflowProblem[] = [],
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** The error in an answer with a status ≥ 400, whatever its body is. */
export function errorFrom(status: number, body: unknown): ApiError {
  const { detail, code } = (isObject(body) ? body : {}) as { detail?: unknown; code?: unknown };
  const name = typeof code === "string" ? code : "error";
  if (typeof detail === "string" && detail !== "") return new ApiError(status, name, detail);
  if (Array.isArray(detail)) return new ApiError(status, "invalid", detail.map(fieldMessage).join(" ") || fallback(status));
  if (isObject(detail) && Array.isArray(detail["errors"])) {
    const problems = detail["errors"].filter(isObject) as unknown as WorkflowProblem[];
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    return new ApiError(status, name, `The agent has ${count}.`, problems);
  }
  return new ApiError(status, name, fallback(status));
}

/** The sentence for any thrown value, network failures included. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "The server cannot be reached. Is it running?";
  return error instanceof Error ? error.message : "Something went wrong.";
}

function fieldMessage(item: unknown): string {
  if (!isObject(item) || typeof item["msg"] !== "string") return "";
  const path = Array.isArray(item["loc"]) ? item["loc"].filter((part) => part !== "body").join(".") : "";
  const sentence = item["msg"].replace(/^Value error, /, "").replace(/\.$/, "");
  return path === "" ? `${sentence}.` : `${path}: ${sentence}.`;
}

function fallback(status: number): string {
  if (status >= 500) return `The server failed (${status}). Its log says why.`;
  if (status === 404) return "Not found.";
  if (status === 429) return "Too many requests: wait a moment and try again.";
  return `The request was refused (${status}).`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
