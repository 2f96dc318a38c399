/** What became of answers that were prepared before the caller's turn was over: pure. */

import { pluralize } from "../../../lib/format/format";

const REASONS: Record<string, string> = {
  call_over: "the call ended",
  caller_went_on: "the caller went on",
  failed: "the model failed",
  not_answered: "the turn needed no answer",
  other_request: "the conversation had moved on",
  other_words: "other words were recognized",
};

/** The data of an `early_answer` event. */
export function describeEarlyAnswer(data: Record<string, unknown>): string {
  const { used, ahead_ms: aheadMs, reason } = data;
  if (used === true) {
    return typeof aheadMs === "number" ? `Used: requested ${(aheadMs / 1000).toFixed(2)} s sooner` : "Used";
  }
  if (typeof reason !== "string") return "Not used";
  return `Not used: ${REASONS[reason] ?? reason.replaceAll("_", " ")}`;
}

const UNUSED = [
  ["early_unused_calls", "request"],
  ["early_unused_prompt_tokens", "prompt token"],
  ["early_unused_completion_tokens", "completion token"],
] as const;

/** What a run's cost includes for answers that were not used; empty when there were none. */
export function describeUnusedAnswers(usage: Record<string, unknown>): string {
  const entries: unknown[] = Array.isArray(usage["llm"]) ? usage["llm"] : [];
  const amounts = UNUSED.map(([name, unit]) => [sumOf(entries, name), unit] as const)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => pluralize(amount, unit));
  return amounts.length === 0 ? "" : `Includes early answers that were not used: ${amounts.join(", ")}.`;
}

function sumOf(entries: unknown[], name: string): number {
  return entries.reduce<number>((sum, entry) => {
    const value = typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>)[name] : 0;
    return sum + (typeof value === "number" ? value : 0);
  }, 0);
}
