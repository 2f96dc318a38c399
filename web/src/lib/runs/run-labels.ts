/** Words for the names that the API gives runs: tags, and why they ended. Names that people chose stay as they are. */

import { humanize } from "../format/format";
import { providerName } from "./model-names";

/** What tells who talks with the agent. */
export interface Conversation {
  mode: string;
  direction: string;
}

export type PartyName = "caller" | "contact" | "user";

/** Who talks with the agent: a caller, a contact who is called, or the user of a text chat. */
export function partyName({ mode, direction }: Conversation): PartyName {
  if (mode === "textchat") return "user";
  return direction === "outbound" && mode !== "browser" ? "contact" : "caller";
}

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
  carrier_failed: "Refused by the carrier",
  credentials_refused: "Carrier credentials rejected",
  do_not_call: "On the do-not-call list",
  error: "Server error",
  line_lost: "Line lost",
  max_duration: "Time limit reached",
  media_lost: "Audio connection lost",
  media_never_came: "No audio from the carrier",
  never_connected: "Not connected in time",
  never_reached_carrier: "Carrier not reached",
  no_answer: "No answer",
  not_dialed: "Not dialed",
  server_stopped: "Server stopped",
  watchdog: "Answer too late",
  worker_lost: "Server process lost",
};

/** Reasons that name who talked with the agent. */
const PARTY_REASONS: Readonly<Partial<Record<string, (party: PartyName) => string>>> = {
  caller_hung_up: (party) => (party === "user" ? "Ended by the user" : `${humanize(party)} hung up`),
  idle: (party) => `${humanize(party)} silent`,
  not_understood: (party) => `${humanize(party)} not understood`,
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

/** Without a run, as of calls that come in. */
export function endReasonLabel(reason: string, run?: Conversation): string {
  const party = run === undefined ? "caller" : partyName(run);
  return PARTY_REASONS[reason]?.(party) ?? END_REASONS[reason] ?? humanize(reason);
}

/** How a conversation was held: by its carrier's name, or "Browser" or "Text chat". */
export function channelName(mode: string): string {
  if (mode === "textchat") return "Text chat";
  return mode === "browser" ? "Browser" : providerName(mode);
}
