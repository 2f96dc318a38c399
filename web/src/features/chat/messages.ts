/** What stands in the chat, as a pure function of what was sent and answered. */

import type { SpeechLine } from "../../lib/conversation";

function line(id: number, speaker: SpeechLine["speaker"], text: string): SpeechLine {
  return { kind: "speech", id, speaker, text, state: "final", atMs: 0, unheard: "" };
}

/** The transcript so far with the message that is under way. */
export function withPending(said: { role: SpeechLine["speaker"]; text: string }[], pending: string | null): SpeechLine[] {
  const lines = said.map((item, index) => line(index, item.role, item.text));
  return pending === null ? lines : [...lines, line(lines.length, "caller", pending)];
}
