/** The rules of a campaign as people say them: pure. */

import type { Schema } from "../../../lib/api/types";
import { formatCount, pluralize } from "../../../lib/format/format";
import { countryName } from "../../../lib/format/countries";
import { zoneName } from "../../../lib/format/time-zones";
import { describeWeek } from "./week";

type Campaign = Schema<"CampaignResponse">;

export function formatInterval(seconds: number): string {
  const [value, unit]: [number, string] =
    seconds < 90
      ? [seconds, "second"]
      : seconds < 90 * 60
        ? [seconds / 60, "minute"]
        : seconds < 36 * 3600
          ? [seconds / 3600, "hour"]
          : [seconds / 86_400, "day"];
  return pluralize(Math.round(value * 10) / 10, unit);
}

function listed(items: readonly string[]): string {
  if (items.length < 3) return items.join(" or ");
  return `${items.slice(0, -1).join(", ")}, or ${items.at(-1) ?? ""}`;
}

export function describeRetries(retry: Partial<Campaign["retry_config"]>): string {
  const times = retry.max_retries ?? 2;
  const after = [
    retry.retry_on_busy !== false && "busy",
    retry.retry_on_no_answer !== false && "no answer",
    retry.retry_on_voicemail !== false && "voicemail",
  ].filter((name) => name !== false);
  if (retry.enabled === false || times === 0 || after.length === 0) return "Never";
  const wait = formatInterval(retry.retry_delay_seconds ?? 300);
  const growth =
    (retry.backoff_factor ?? 1) > 1 ? `, each wait ${formatCount(retry.backoff_factor ?? 1)} times the last` : "";
  const others = Object.entries(retry.delays ?? {}).map(
    ([outcome, seconds]) => `, ${formatInterval(seconds)} after ${outcome.replaceAll("_", " ")}`,
  );
  return `${times === 1 ? "Once" : `Up to ${times} times`} after ${listed(after)}, ${wait} later${growth}${others.join("")}`;
}

export function describeHours(hours: Campaign["calling_hours"]): string {
  if (hours === null) return "At any time";
  const both = hours.in_callee_zone ? " and in the contact's time zone" : "";
  const holidays = hours.holidays ?? [];
  return `${describeWeek(hours.slots)}, ${zoneName(hours.timezone)}${both}${holidays.length > 0 ? `; except ${holidays.map(dayWords).join(", ")}` : ""}`;
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

function dayWords(day: string): string {
  return !isDay(day)
    ? day
    : new Date(`${day}T12:00:00`).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

export function describeDestinations(where: Partial<Campaign["destinations"]>): string {
  const countries = where.countries ?? null;
  const places = countries === null ? "All countries" : countries.map(countryName).join(", ") || "No countries";
  return `${places}${where.allow_premium === true ? ", including premium-rate numbers" : ", no premium-rate numbers"}`;
}

export function describeVoicemail(voicemail: Campaign["voicemail"]): string {
  if (voicemail === null) return "Agent setting";
  return voicemail.action === "leave_message" && voicemail.message
    ? `Leaves a message: “${voicemail.message}”`
    : "Hangs up";
}

export function describeBreaker(breaker: Partial<Campaign["circuit_breaker"]>): string {
  if (breaker.enabled === false) return "Never";
  const share = Math.round((breaker.failure_threshold ?? 0.5) * 100);
  return `When ${share}% of at least ${breaker.min_calls_in_window ?? 5} calls within ${formatInterval(breaker.window_seconds ?? 120)} fail`;
}

/** `numbers`: those of the account, its default first. */
export function calledFrom(numbers: readonly string[], provider: string): string {
  if (numbers.length === 0)
    return provider === "sandbox" ? "Simulated phones. No real calls are placed." : "No number to call from";
  const [first = "", ...others] = numbers;
  if (others.length === 0) return `From ${first}`;
  return `From ${first} and ${pluralize(others.length, "other number")} in rotation`;
}

/** When a contact's next call comes, as far as the list knows; "why not now" says the rest. */
export function describeDueTime(
  campaign: Pick<Campaign, "status" | "next_open_at">,
  hold: string | null,
  due: string,
): string {
  if (campaign.status === "draft") return "After the campaign starts";
  if (campaign.status === "paused") return "After the campaign resumes";
  if (campaign.status !== "running") return "–";
  if (hold === "retry_delay") return `Retry ${due}`;
  if (hold !== null) return due === "" ? "On hold" : `Not before ${due}`;
  return campaign.next_open_at === null ? "In queue" : "When calling hours begin";
}
