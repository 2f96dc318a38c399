/** What the audit log's names mean: `phone_number.created` is “Number created”, `telephony_config:4` “carrier account 4”. */

import { formatCount, humanize } from "../../../lib/format/format";

const THINGS: Record<string, string> = {
  api_key: "API key",
  do_not_call: "Do not call",
  phone_number: "Number",
  second_factor: "Two-step sign-in",
  telephony_config: "Carrier account",
  user: "User",
  workflow: "Agent",
};

const ACTIONS: Record<string, string> = {
  "account.deleted": "Account deleted",
  "do_not_call.added": "Number put on the do-not-call list",
  "do_not_call.removed": "Number taken off the do-not-call list",
  "phone_number.bought": "Number bought",
  "recording.read": "Opened the recording of",
  "run.read": "Opened",
  "run.replayed": "Replayed",
  "run.turn_replayed": "Replayed a turn of",
  "run_events.read": "Opened the events of",
  "run_evidence.exported": "Exported the evidence of",
  "run_scenario.read": "Made a scenario from",
  "scenarios.answers_deleted": "Recorded answers deleted",
  "scenarios.play_canceled": "Scenario run canceled",
  "scenarios.play_ordered": "Scenario run started",
  "support.read": "Opened while impersonating",
  "superuser.read": "Opened by a superuser",
  "telephony_config.checked": "Carrier credentials checked",
  "telephony_config.made_default": "Carrier account made the default",
  "text_chat.read": "Opened the chat of",
  "transcript.read": "Opened the transcript of",
  "transcripts.searched": "Searched the transcripts",
  "user.password_changed": "Password changed",
  "user.password_reset": "Password reset",
  "user.renamed": "Name changed",
  "user.session_ended": "Session ended",
  "workflow.canary_share_changed": "Canary share changed",
  "workflow.canary_started": "Canary started",
  "workflow.gate_overridden": "Publish gate overridden",
  "workflow.publish_gate_changed": "Publish gate changed",
  "identity.linked": "Identity linked",
  "identity.unlinked": "Identity unlinked",
  "audit_log.exported": "Audit log exported",
  "workflow.demo_created": "Demo agents created",
  "second_factor.demand_changed": "Two-step sign-in requirement changed",
  "second_factor.enabled": "Two-step sign-in turned on",
  "second_factor.enrollment_begun": "Two-step sign-in setup started",
  "second_factor.recovery_codes_renewed": "Recovery codes replaced",
  "second_factor.removed": "Two-step sign-in turned off",
  "second_factor.reset": "Two-step sign-in reset",
  "sign_in_link.created": "Sign-in link created",
  "user.followed_link": "Signed in with a link",
  "user.impersonated": "Impersonated a user",
  "user.logged_in": "Signed in",
  "user.logged_out": "Signed out",
  "user.second_step_failed": "Wrong code at sign-in",
  "user.signed_in_by_provider": "Signed in with the identity provider",
  "user.signed_up": "Signed up",
  "user.sign_in_failed": "Sign-in failed",
  "user.superuser_granted": "Superuser granted",
  "user.superuser_revoked": "Superuser revoked",
  "user.switched_organization": "Switched organizations",
};

const thing = (name: string) => THINGS[name] ?? humanize(name);

export function actionWords(action: string): string {
  const [name = "", ...rest] = action.split(".");
  return ACTIONS[action] ?? [thing(name), ...rest.map((part) => part.replaceAll("_", " "))].join(" ");
}

/** Of a long id its beginning, by which it is known. */
export function targetWords(target: string): string {
  const [name = "", ...rest] = target.split(":");
  const id = rest.join(":");
  return id === ""
    ? ""
    : `${thing(name).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())} ${/^[\da-f]{8}-/.test(id) ? id.slice(0, 8) : id}`;
}

/** Those that go on with what they were done to. */
const WITH_OBJECT = /^(Opened|Replayed)$| (of|from)$/;

/** What was done, and what it was done to where that does not belong into its words: “Agent 3 published”, “Opened run 32”,
 * “Signed in with a link · user 1”. */
export function entryWords(action: string, target: string): { what: string; to: string } {
  const what = actionWords(action);
  const to = targetWords(target);
  const named = thing(target.split(":")[0] ?? "");
  if (to === "") return { what, to };
  if (what.startsWith(`${named} `))
    return { what: `${named}${to.slice(named.length)}${what.slice(named.length)}`, to: "" };
  return { what, to: WITH_OBJECT.test(what) ? to : `· ${to}` };
}

/** Who is known by nothing but a link that was signed for what they opened. */
export function isOfLink(data: Record<string, unknown>): boolean {
  return data["by"] === "signed_link";
}

const DETAILS: Record<string, string> = {
  bytes: "bytes",
  changed: "changed",
  fields: "changed",
  folder_id: "folder",
  from: "from",
  is_default: "default",
  play: "scenario run",
  parent_campaign_id: "redial of campaign",
  recording_ids: "recordings",
  run_id: "call",
  to: "to",
  workflow_id: "agent",
  workflow_ids: "agents",
};

/** Reads that only their address tells apart; the others have what was read as their target. */
const TOLD_BY_PATH = new Set(["superuser.read", "support.read"]);

/** What an entry says besides, in the order of the log: “changed: name, time zone”. Nothing for what is empty. */
export function detailWords(data: Record<string, unknown>, action = ""): { name: string; value: string }[] {
  return Object.entries(data)
    .filter(([name]) => name !== "path" || TOLD_BY_PATH.has(action))
    .filter(([name]) => name !== "by" || !isOfLink(data))
    .map(([name, value]) => ({ name: DETAILS[name] ?? spaced(name), value: valueWords(name, value) }))
    .filter(({ value }) => value !== "");
}

function valueWords(name: string, value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return /(^|_)ids?$/.test(name) ? String(value) : formatCount(value);
  if (typeof value === "string") return NAMES_ONLY.has(name) ? (FIELDS[value] ?? spaced(value)) : value;
  if (Array.isArray(value)) return value.map((one) => valueWords(name, one)).join(", ");
  return detailWords(value as Record<string, unknown>)
    .map((part) => `${part.name} ${part.value}`)
    .join(", ");
}

/** Fields whose names in the API are not those of the page. */
const FIELDS: Record<string, string> = {
  definition: "steps and transitions",
  template_context_variables: "variables",
  configurations: "settings",
};

/** Their values are names of fields, not what people have typed. */
const NAMES_ONLY = new Set(["fields", "changed", "category", "scopes"]);

const spaced = (name: string) => name.replaceAll("_", " ");

/** Words of the page as the log's own, by which it is searched: “carrier account” is in `telephony_config.created`. */
export function searchedFor(typed: string): string {
  const asked = typed.trim().toLowerCase();
  const known = Object.entries({ ...THINGS, ...ACTIONS }).find(([, title]) => title.toLowerCase() === asked);
  return known?.[0] ?? asked.replaceAll(" ", "_");
}
