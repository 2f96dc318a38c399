/** Words for the names that the API gives runs: tags, and why they ended. Names that people chose stay as they are. */

import { humanize } from "../format/format";

const TAGS: Readonly<Partial<Record<string, string>>> = {
  silent_caller: "Silent caller",
  watchdog: "Answer too late",
  llm_failed: "Language model failed",
  tts_failed: "Voice failed",
  stt_failed: "Speech recognition failed",
  realtime_failed: "Speech-to-speech model failed",
  handover_failed: "Transfer failed",
};
const TAG_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(TAGS).map(([name, label]) => [(label ?? name).toLowerCase(), name]),
);

const END_REASONS: Readonly<Partial<Record<string, string>>> = {
  agent_ended: "Ended by the agent",
  caller_hung_up: "Caller hung up",
  carrier_failed: "Refused by the carrier",
  credentials_refused: "Carrier credentials rejected",
  do_not_call: "On the do-not-call list",
  error: "Server error",
  idle: "Caller silent",
  line_lost: "Line lost",
  max_duration: "Time limit reached",
  media_lost: "Audio connection lost",
  media_never_came: "No audio from the carrier",
  never_connected: "Not connected in time",
  never_reached_carrier: "Carrier not reached",
  no_answer: "No answer",
  not_dialed: "Not dialed",
  not_understood: "Caller not understood",
  server_stopped: "Server stopped",
  watchdog: "Answer too late",
  worker_lost: "Server process lost",
};

/** The tags that the platform sets, for suggestions. */
export const PLATFORM_TAG_LABELS: readonly string[] = Object.values(TAGS).filter((label) => label !== undefined);

export function tagLabel(tag: string): string {
  return TAGS[tag] ?? tag;
}

/** The tag behind a label, however it was typed. */
export function tagOf(label: string): string {
  return TAG_NAMES.get(label.toLowerCase()) ?? label;
}

export function endReasonLabel(reason: string): string {
  return END_REASONS[reason] ?? humanize(reason);
}
