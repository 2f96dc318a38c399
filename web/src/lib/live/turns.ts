/** Projects a conversation's events to its turns: what was heard, what was answered, what was called, what took how long. Pure. */

import { type CallEvent, number, text } from "./events";
import { turnOf, type Turn } from "./latency";

export interface TurnTool {
  id: string;
  name: string;
  arguments: unknown;
  /** Null while there is none. */
  isOk: boolean | null;
  answer: string;
  ms: number | null;
}

export interface ConversationTurn {
  index: number;
  atMs: number;
  /** Null: the words were not understood. */
  heard: string | null;
  endMs: number;
  answer: string;
  /** The step in which the words were heard. */
  nodeId: string;
  step: string;
  tools: TurnTool[];
  /** Names of documents that were read for the answer. */
  sources: string[];
  timing: Turn | null;
  wasInterrupted: boolean;
}

/** A turn begins with the caller's words; several utterances before an answer are turns of their own. */
export function conversationTurns(events: readonly CallEvent[]): ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  let step = { nodeId: "", name: "" };
  for (const event of events) {
    const turn = turns.at(-1);
    switch (event.type) {
      case "node_entered":
        step = { nodeId: text(event, "node_id"), name: text(event, "name") };
        break;
      case "caller_said":
      case "caller_not_understood":
        turns.push(startTurn(event, turns.length + 1, step));
        break;
      case "agent_said":
        if (turn !== undefined) {
          turn.answer = [turn.answer, text(event, "text")].filter((part) => part !== "").join(" ");
          turn.wasInterrupted ||= event.data["interrupted"] === true;
        }
        noteTimes(turns, event);
        break;
      case "turn_timed":
        noteTimes(turns, event);
        break;
      case "tool_called":
        turn?.tools.push({
          id: text(event, "id"),
          name: text(event, "name"),
          arguments: event.data["arguments"] ?? null,
          isOk: null,
          answer: "",
          ms: null,
        });
        break;
      case "tool_answered":
        answerTool(turns, event);
        break;
      case "knowledge_found":
        turn?.sources.push(...sourceNames(event));
        break;
    }
  }
  return turns;
}

function startTurn(event: CallEvent, index: number, step: { nodeId: string; name: string }): ConversationTurn {
  const start = number(event, "start_s");
  const end = number(event, "end_s");
  return {
    index,
    atMs: start === null ? event.at_ms : Math.round(start * 1000),
    endMs: end === null ? event.at_ms : Math.round(end * 1000),
    heard: event.type === "caller_said" ? text(event, "text") : null,
    answer: "",
    nodeId: step.nodeId,
    step: step.name,
    tools: [],
    sources: [],
    timing: null,
    wasInterrupted: false,
  };
}

/** The words of an answer, which have its times, can come after those that interrupted it. */
function noteTimes(turns: readonly ConversationTurn[], event: CallEvent): void {
  const timing = turnOf(event, 0);
  if (timing === null) return;
  const answered = turns.findLast((turn) => turn.endMs <= timing.sentMs) ?? turns.at(-1);
  if (answered !== undefined) answered.timing ??= { ...timing, index: answered.index };
}

/** A slow tool answers when the caller has already spoken again. */
function answerTool(turns: readonly ConversationTurn[], event: CallEvent): void {
  const called = turns.flatMap((turn) => turn.tools).findLast((tool) => tool.id === text(event, "id"));
  if (called === undefined) return;
  called.isOk = event.data["ok"] !== false;
  called.ms = number(event, "ms");
  const result = event.data["result"];
  called.answer = called.isOk
    ? typeof result === "string"
      ? result
      : JSON.stringify(result ?? "")
    : text(event, "error");
}

function sourceNames(event: CallEvent): string[] {
  const sources = event.data["sources"];
  if (!Array.isArray(sources)) return [];
  return sources.flatMap((source: unknown) => {
    const name = typeof source === "object" && source !== null ? (source as Record<string, unknown>)["name"] : null;
    return typeof name === "string" ? [name] : [];
  });
}
