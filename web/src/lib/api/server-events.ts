/** Server-sent events over fetch, because an EventSource cannot carry the credential. */

import { ApiError, errorFrom, fetchOrFail } from "./errors";
import { currentToken } from "./session";

export interface ServerEvent {
  name: string;
  data: string;
}

/** Splits what has arrived into whole events, and what is left of the next one. */
export function splitEvents(buffer: string): { events: ServerEvent[]; rest: string } {
  const blocks = buffer.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = blocks.map(eventOf).filter((event) => event !== null);
  return { events, rest };
}

function eventOf(block: string): ServerEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length === 0 ? null : { name, data: data.join("\n") };
}

/** Hands over each event until the server ends the stream; throws what the server or the connection fails with. */
export async function listenToEvents(
  path: string,
  signal: AbortSignal,
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const response = await fetchOrFail(path, {
    signal,
    headers: { Authorization: `Bearer ${currentToken() ?? ""}`, Accept: "text/event-stream" },
  });
  if (!response.ok || response.body === null) throw errorFrom(response.status, await response.json().catch(() => null));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const { events, rest } = splitEvents(buffer + piece.value);
    buffer = rest;
    events.forEach(onEvent);
  }
}

/** While an organization has too many streams open, another one would only be refused as well. */
const AGAIN_IF_TOO_MANY_MS = 15_000;

/** How long to wait before listening again after an error; null where the server would refuse it again. */
export function waitAfter(error: unknown, usualMs: number): number | null {
  if (!(error instanceof ApiError) || error.status >= 500) return usualMs;
  return error.status === 429 ? AGAIN_IF_TOO_MANY_MS : null;
}
