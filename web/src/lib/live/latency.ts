/** Projects the times of answers to one row per turn: how long the caller waited, and for what. */

import { type CallEvent, number } from "./events";

/** The steps from the caller's last word to the agent's first sound, in order, with the stamp that ends each. */
export const STEPS = [
  { key: "endpoint", ends: "turn_decided", label: "Turn end" },
  { key: "model", ends: "first_token", label: "Model" },
  { key: "sentence", ends: "first_sentence", label: "Sentence" },
  { key: "voice", ends: "first_byte", label: "Voice" },
  { key: "playout", ends: "first_frame", label: "Playout" },
] as const;

export type StepKey = (typeof STEPS)[number]["key"];

export interface Turn {
  index: number;
  atMs: number;
  responseMs: number;
  /** When the first frame was sent: what tells answers apart. */
  sentMs: number;
  parts: { key: StepKey; ms: number }[];
}

/** `turn_timed` tells the times when an answer begins; what is stored tells them again when it was heard. */
export function addTurn(turns: readonly Turn[], event: CallEvent): Turn[] {
  const turn = turnOf(event, turns.length + 1);
  const isStored = event.type === "agent_said" || event.data["unheard"] === true;
  const isTold = isStored && turns.some(({ sentMs }) => sentMs === turn?.sentMs);
  return turn === null || isTold ? [...turns] : [...turns, turn];
}

export function turnsOf(events: readonly CallEvent[]): Turn[] {
  return events.reduce<Turn[]>(addTurn, []);
}

/** A step without a stamp did not happen; its time counts to the step after it. */
export function turnOf(event: CallEvent, index: number): Turn | null {
  const times = timesOf(event);
  if (times === null) return null;
  const stopped = number(times, "caller_stopped");
  const heard = number(times, "first_frame");
  if (stopped === null || heard === null) return null;
  const parts: Turn["parts"] = [];
  let from = stopped;
  for (const step of STEPS) {
    const until = number(times, step.ends);
    if (until === null) continue;
    parts.push({ key: step.key, ms: Math.max(0, Math.round((until - from) * 1000)) });
    from = Math.max(from, until);
  }
  const sentMs = Math.round(heard * 1000);
  return {
    index,
    atMs: event.type === "agent_said" ? sentMs : event.at_ms,
    responseMs: number(times, "response_ms") ?? Math.round((heard - stopped) * 1000),
    sentMs,
    parts,
  };
}

/** The event with only the times of an answer as its data: of `turn_timed` all, of the answer's words its `timing`. */
function timesOf(event: CallEvent): CallEvent | null {
  if (event.type === "turn_timed") return event;
  const timing = event.type === "agent_said" ? event.data["timing"] : null;
  return typeof timing === "object" && timing !== null ? { ...event, data: timing as CallEvent["data"] } : null;
}

/** The value below which `share` (0…1) of the turns lie (nearest rank); null without turns. */
export function percentile(turns: readonly Turn[], share: number): number | null {
  if (turns.length === 0) return null;
  const sorted = turns.map((turn) => turn.responseMs).sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
