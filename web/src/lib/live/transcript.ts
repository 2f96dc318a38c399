/** Projects a conversation's events to what a reader sees: lines of speech, notes between them, the current node. */

import { modelKindName, providerName, servedBy } from "../runs/model-names";
import { type CallEvent, number, text } from "./events";

export type Speaker = "agent" | "caller";
export type LineState = "live" | "final" | "interrupted" | "not_understood";

export interface SpeechLine {
  kind: "speech";
  id: number;
  speaker: Speaker;
  text: string;
  state: LineState;
  atMs: number;
  /** What was prepared and never heard, because the caller spoke over it. */
  unheard: string;
}

export interface NoteLine {
  kind: "note";
  id: number;
  text: string;
  tone: "plain" | "warning";
  atMs: number;
}

export type Line = SpeechLine | NoteLine;
export interface TranscriptState {
  lines: Line[];
  nodeId: string | null;
  isCallerSpeaking: boolean;
  announced: readonly Announced[];
  nextId: number;
}

/** A sentence of the agent's open line. */
type Announced = Pick<SpeechLine, "text" | "atMs">;

export const EMPTY_TRANSCRIPT: TranscriptState = {
  lines: [],
  nodeId: null,
  isCallerSpeaking: false,
  announced: [],
  nextId: 1,
};

export function transcriptOf(events: readonly CallEvent[]): TranscriptState {
  return settleTranscript(events.reduce(applyEvent, EMPTY_TRANSCRIPT));
}

/** The conversation after one more event. Unknown events change nothing. */
export function applyEvent(state: TranscriptState, event: CallEvent): TranscriptState {
  switch (event.type) {
    case "caller_started":
      return { ...state, isCallerSpeaking: true };
    case "caller_stopped":
      return { ...state, isCallerSpeaking: false };
    case "caller_partial":
      return callerSpeaks(state, event, "live");
    case "caller_said":
      return callerSpeaks(state, event, "final");
    case "caller_not_understood":
      return callerNotUnderstood(state, event);
    case "agent_speaking":
      return agentSpeaks(state, event);
    case "agent_said":
      return agentSaid(state, event);
    case "node_entered":
      return note({ ...state, nodeId: text(event, "node_id") || state.nodeId }, event, text(event, "name"), "plain");
    default: {
      const [words, tone] = noteOf(event);
      return words === "" ? state : note(state, event, words, tone);
    }
  }
}

/** When nothing more will come: what is still open was not finished. */
export function settleTranscript(state: TranscriptState): TranscriptState {
  const lines = state.lines
    .filter((line) => line.kind === "note" || line.state !== "live" || line.speaker === "agent")
    .map((line): Line => (line.kind === "speech" && line.state === "live" ? { ...line, state: "final" } : line));
  return { ...state, lines, isCallerSpeaking: false, announced: [] };
}

function openLine(state: TranscriptState, speaker: Speaker): SpeechLine | undefined {
  return state.lines.findLast(
    (line): line is SpeechLine => line.kind === "speech" && line.speaker === speaker && line.state === "live",
  );
}

function replace(state: TranscriptState, line: SpeechLine): TranscriptState {
  return { ...state, lines: state.lines.map((old) => (old.id === line.id ? line : old)) };
}

function remove(state: TranscriptState, id: number): TranscriptState {
  return { ...state, lines: state.lines.filter((line) => line.id !== id) };
}

type NewLine = Omit<SpeechLine, "id"> | Omit<NoteLine, "id">;

function append(state: TranscriptState, line: NewLine): TranscriptState {
  return { ...state, lines: [...state.lines, { ...line, id: state.nextId }], nextId: state.nextId + 1 };
}

function note(state: TranscriptState, event: CallEvent, words: string, tone: NoteLine["tone"]): TranscriptState {
  return words === "" ? state : append(state, { kind: "note", text: words, tone, atMs: event.at_ms });
}

function callerSpeaks(state: TranscriptState, event: CallEvent, lineState: LineState): TranscriptState {
  const words = text(event, "text");
  const open = openLine(state, "caller");
  if (open !== undefined) {
    if (words === "") return lineState === "final" ? remove(state, open.id) : state;
    return replace(state, { ...open, text: words, state: lineState });
  }
  if (words === "") return state;
  return append(state, {
    kind: "speech",
    speaker: "caller",
    text: words,
    state: lineState,
    atMs: startMs(event),
    unheard: "",
  });
}

/** Words that the recognizer did not get: the line can be played, and says so. */
function callerNotUnderstood(state: TranscriptState, event: CallEvent): TranscriptState {
  const open = openLine(state, "caller");
  return append(open === undefined ? state : remove(state, open.id), {
    kind: "speech",
    speaker: "caller",
    text: "Not understood",
    state: "not_understood",
    atMs: startMs(event),
    unheard: "",
  });
}

function agentSpeaks(state: TranscriptState, event: CallEvent): TranscriptState {
  const words = text(event, "text");
  if (words === "") return state;
  const sentence = { text: words, atMs: event.at_ms };
  const open = openLine(state, "agent");
  if (open === undefined) return announce(state, [sentence]);
  const announced = [...state.announced, sentence];
  return { ...replace(state, { ...open, text: joined(announced) }), announced };
}

/** Opens a line of the agent with these sentences. */
function announce(state: TranscriptState, sentences: readonly Announced[]): TranscriptState {
  const [first] = sentences;
  const next = { ...state, announced: sentences };
  if (first === undefined) return next;
  return append(next, {
    kind: "speech",
    speaker: "agent",
    text: joined(sentences),
    state: "live",
    atMs: first.atMs,
    unheard: "",
  });
}

function joined(sentences: readonly Announced[]): string {
  return sentences.map((sentence) => sentence.text).join(" ");
}

/** What was announced is corrected to what was heard; announced sentences that follow it stay open. What was said can be told
 * after the next sentence was announced: that one is later by its time, and belongs to the next line. */
function agentSaid(state: TranscriptState, event: CallEvent): TranscriptState {
  const heard = text(event, "text");
  const isInterrupted = event.data["interrupted"] === true;
  const open = openLine(state, "agent");
  const own = joined(state.announced.filter((sentence) => sentence.atMs <= event.at_ms));
  const later = state.announced.filter((sentence) => sentence.atMs > event.at_ms);
  const said = {
    kind: "speech",
    speaker: "agent",
    text: heard,
    state: isInterrupted ? "interrupted" : "final",
    unheard: "",
  } as const;
  if (open === undefined || own === "") return heard === "" ? state : append(state, { ...said, atMs: startMs(event) });
  const rest = own.startsWith(heard) ? own.slice(heard.length).trim() : "";
  const unheard = isInterrupted ? rest : "";
  const closed =
    heard === "" && unheard === ""
      ? remove(state, open.id)
      : replace(state, { ...said, id: open.id, atMs: open.atMs, unheard });
  const isOpen = !isInterrupted && heard !== "" && rest !== "";
  return announce(closed, [...(isOpen ? [{ text: rest, atMs: event.at_ms }] : []), ...later]);
}

function startMs(event: CallEvent): number {
  const start = number(event, "start_s");
  return start === null ? event.at_ms : Math.round(start * 1000);
}

/** What was done so that the caller does not hear silence. */
const WATCHDOG: Record<string, string> = {
  filler: "Filled a silence",
  retry: "Asked again",
  apology: "Apologized",
  end: "Ended the call",
};

const PLAIN: Record<string, string> = {
  held_turns_answered: "Answered late: the caller seemed to be talking to someone else",
  caller_idle: "Silence",
  duration_warned: "The call is almost out of time",
  voicemail_detected: "Voicemail",
  recording_paused: "Recording paused",
  recording_resumed: "Recording resumed",
  recording_discarded: "Recording deleted",
};

function noteOf(event: CallEvent): [string, NoteLine["tone"]] {
  switch (event.type) {
    case "digits_pressed":
      return [`Keypad: ${text(event, "digits")}`, "plain"];
    case "tool_called":
      return [`Tool ${text(event, "name")}`, "plain"];
    case "tool_answered":
      return event.data["ok"] === false
        ? [`Tool ${text(event, "name")} failed: ${text(event, "error")}`, "warning"]
        : ["", "plain"];
    case "model_failed":
      return [`${servedBy(text(event, "kind"), text(event, "provider"))} failed: ${text(event, "message")}`, "warning"];
    case "failed_over":
      return [
        `${modelKindName(text(event, "kind"))} switched from ${providerName(text(event, "from"))} to ${providerName(text(event, "to"))}`,
        "warning",
      ];
    case "watchdog_acted":
      return [
        `${WATCHDOG[text(event, "step")] ?? text(event, "step")}: ${text(event, "reason").replaceAll("_", " ")}`,
        "warning",
      ];
    case "caller_audio_uncleaned":
      return ["The caller's audio is not being cleaned up", "warning"];
    case "values_left_out":
      return [`Too long to store: ${(event.data["names"] as string[]).join(", ")}`, "warning"];
    case "disclosure_missed":
      return ["The disclosure did not play in full, so nothing is recorded", "warning"];
    default:
      return [PLAIN[event.type] ?? "", "plain"];
  }
}
