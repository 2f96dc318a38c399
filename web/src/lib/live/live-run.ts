/** A run while it goes on, as a pure function of its events: what was said, where it stands, what tools did, how fast it answered. */

import { type TranscriptState, EMPTY_TRANSCRIPT, type Line, applyEvent, settleTranscript } from "./transcript";
import { type CallEvent, text } from "./events";
import { type Turn, addTurn } from "./latency";

export interface ToolCall {
  name: string;
  arguments: unknown;
  /** Undefined while it runs. */
  isOk: boolean | undefined;
  result: string;
}

export interface LiveRun {
  transcript: TranscriptState;
  /** The steps that the conversation came through, in order. */
  visited: string[];
  tools: ToolCall[];
  turns: Turn[];
  /** Somebody has picked up. */
  isAnswered: boolean;
  ended: { status: string; outcome: string | null; endReason: string | null } | null;
  /** The number of the newest stored event. */
  seq: number;
}

export const EMPTY_RUN: LiveRun = {
  transcript: EMPTY_TRANSCRIPT,
  visited: [],
  tools: [],
  turns: [],
  isAnswered: false,
  ended: null,
  seq: 0,
};

export interface NumberedEvent extends CallEvent {
  seq?: number;
}

/** The run after one more event; what was seen already changes nothing. */
export function applyRunEvent(run: LiveRun, event: NumberedEvent): LiveRun {
  if (event.seq !== undefined && event.seq <= run.seq) return run;
  const transcript = applyEvent(run.transcript, event);
  const { nodeId } = transcript;
  return {
    ...run,
    transcript,
    visited: nodeId === null || run.visited.includes(nodeId) ? run.visited : [...run.visited, nodeId],
    tools: toolsAfter(run.tools, event),
    turns: addTurn(run.turns, event),
    isAnswered:
      run.isAnswered ||
      event.type === "call_started" ||
      (event.type === "status_changed" && text(event, "status") === "in_progress"),
    seq: event.seq ?? run.seq,
  };
}

export function finishRun(run: LiveRun, ended: NonNullable<LiveRun["ended"]>): LiveRun {
  return { ...run, ended, transcript: { ...settleTranscript(run.transcript), nodeId: null } };
}

/** By when they began. Live words come at once and stored ones a moment later, so that they arrive out of order. */
export function sortLines(lines: readonly Line[]): Line[] {
  return [...lines].sort((one, other) => one.atMs - other.atMs);
}

function toolsAfter(tools: ToolCall[], event: CallEvent): ToolCall[] {
  if (event.type === "tool_called")
    return [
      ...tools,
      { name: text(event, "name"), arguments: event.data["arguments"] ?? null, isOk: undefined, result: "" },
    ];
  if (event.type !== "tool_answered") return tools;
  const at = tools.findLastIndex((call) => call.name === text(event, "name") && call.isOk === undefined);
  const isOk = event.data["ok"] !== false;
  const result = isOk ? shown(event.data["result"]) : text(event, "error");
  return tools.map((call, index) => (index === at ? { ...call, isOk, result } : call));
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
