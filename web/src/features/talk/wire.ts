/** The text messages of the browser's media socket. Binary messages are PCM16, mono, 16 kHz. */

import type { CallEvent } from "../../lib/live/events";

export type ServerMessage =
  | { type: "event"; event: CallEvent }
  | { type: "clear" }
  | { type: "mark"; name: string }
  | { type: "reconnect"; token: string }
  | { type: "ended"; status: string; outcome: string | null; endReason: string | null }
  | { type: "error"; code: string; detail: string };

export type ClientMessage = { type: "mark"; name: string } | { type: "dtmf"; digit: string } | { type: "hangup" };

/** The message, or null for what this page does not know. */
export function parseMessage(raw: string): ServerMessage | null {
  const message = parseObject(raw);
  switch (message?.["type"]) {
    case "event":
      return eventOf(message["event"]);
    case "clear":
      return { type: "clear" };
    case "mark":
      return { type: "mark", name: String(message["name"]) };
    case "reconnect":
      return { type: "reconnect", token: String(message["token"]) };
    case "ended":
      return {
        type: "ended",
        status: String(message["status"]),
        outcome: word(message["outcome"]),
        endReason: word(message["end_reason"]),
      };
    case "error":
      return { type: "error", code: String(message["code"]), detail: word(message["detail"]) ?? "The call failed." };
    default:
      return null;
  }
}

function eventOf(value: unknown): ServerMessage | null {
  if (!isObject(value) || typeof value["type"] !== "string") return null;
  const at = typeof value["at_ms"] === "number" ? value["at_ms"] : 0;
  return {
    type: "event",
    event: { type: value["type"], at_ms: at, data: isObject(value["data"]) ? value["data"] : {} },
  };
}

function parseObject(raw: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(raw);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function word(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
