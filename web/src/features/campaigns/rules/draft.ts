/** A campaign while it is being made, and as the API takes it. */

import type { Schema } from "../../../lib/api/types";
import { isDay } from "./rule-descriptions";
import { DEFAULT_WEEK, gridOf, openHours, slotsOf, type Week } from "./week";

/** The rules that can be changed later, too. */
export interface Rules {
  /** By which carrier account calls go out; null: the organization's default. */
  accountId: number | null;
  /** Empty while it is being typed, as other numbers. */
  maxConcurrency: number | "";
  hasHours: boolean;
  week: Week;
  timezone: string;
  inCalleeZone: boolean;
  /** Days as 2026-12-25. */
  holidays: string[];
  /** Two letters each; none: every country. */
  countries: string[];
  allowsPremium: boolean;
  hasRetries: boolean;
  maxRetries: number | "";
  retryMinutes: number | "";
  onBusy: boolean;
  onNoAnswer: boolean;
  onVoicemail: boolean;
  /** Dollars; empty: no cap. */
  spendCap: number | "";
  voicemail: "workflow" | "hang_up" | "leave_message";
  voicemailMessage: string;
}

export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export const FIRST_RULES: Rules = {
  accountId: null,
  maxConcurrency: 5,
  hasHours: true,
  week: DEFAULT_WEEK,
  timezone: LOCAL_ZONE,
  inCalleeZone: true,
  holidays: [],
  countries: [],
  allowsPremium: false,
  hasRetries: true,
  maxRetries: 2,
  retryMinutes: 5,
  onBusy: true,
  onNoAnswer: true,
  onVoicemail: true,
  spendCap: "",
  voicemail: "workflow",
  voicemailMessage: "",
};

/** Every field that {@link bodyOf} sends. */
export const RULE_FIELDS = [
  "telephony_configuration_id",
  "max_concurrency",
  "calling_hours",
  "retry_config",
  "destinations",
  "spend_cap_cents",
  "voicemail",
] as const;

/** What the form of the rules calls them. */
export const RULE_LABELS = {
  max_concurrency: "Concurrency",
  phone_number: "Number",
  retry_config: "Retries",
  spend_cap_cents: "Spend limit",
  timezone: "Time zone",
  voicemail: "Voicemail",
};

type Body = Pick<Schema<"CreateCampaignRequest">, (typeof RULE_FIELDS)[number]>;
type Retry = NonNullable<Body["retry_config"]>;

export function bodyOf(rules: Rules): Body {
  return {
    telephony_configuration_id: rules.accountId,
    max_concurrency: Number(rules.maxConcurrency),
    calling_hours: rules.hasHours
      ? {
          timezone: rules.timezone,
          slots: slotsOf(rules.week),
          holidays: rules.holidays,
          in_callee_zone: rules.inCalleeZone,
        }
      : null,
    retry_config: retryOf(rules) as Retry,
    destinations: {
      countries: rules.countries.length === 0 ? null : rules.countries,
      allow_premium: rules.allowsPremium,
    },
    spend_cap_cents: rules.spendCap === "" ? null : Math.round(rules.spendCap * 100),
    voicemail:
      rules.voicemail === "workflow"
        ? null
        : { action: rules.voicemail, message: rules.voicemail === "leave_message" ? rules.voicemailMessage : null },
  };
}

/** What is not named stays: the wait that grows and the waits of single outcomes, which the form does not show. */
function retryOf(rules: Rules): Partial<Retry> {
  return {
    enabled: rules.hasRetries,
    max_retries: Number(rules.maxRetries),
    retry_delay_seconds: Math.round(Number(rules.retryMinutes) * 60),
    retry_on_busy: rules.onBusy,
    retry_on_no_answer: rules.onNoAnswer,
    retry_on_voicemail: rules.onVoicemail,
  };
}

/** Of one contact; the API refuses more. */
export const MAX_RETRIES = 20;

/** What stops the second step; the API says the rest. */
export function problemOf(rules: Rules): string | null {
  if (rules.hasHours && openHours(rules.week) === 0)
    return "No hours are selected. Select some, or allow calls at any time.";
  const noDay = rules.hasHours && rules.holidays.find((day) => !isDay(day));
  if (noDay) return `“${noDay}” is not a date. Use the format 2026-12-25.`;
  if (rules.maxConcurrency === "") return "Enter how many calls can run at once.";
  if (rules.hasRetries && (rules.maxRetries === "" || rules.retryMinutes === ""))
    return "Enter the number of retries and the minutes between them.";
  if (rules.hasRetries && Number(rules.maxRetries) > MAX_RETRIES) return `Enter at most ${MAX_RETRIES} retries.`;
  return null;
}

/** Hours to the minute, which the grid cannot show, are kept until the user paints others. */
export function changedOf(rules: Rules, campaign: Shown): Body {
  const body = bodyOf(rules);
  const { rules: first, isExact } = rulesOf(campaign);
  const isSame = !isExact && JSON.stringify(rules.week) === JSON.stringify(first.week);
  if (!isSame || !body.calling_hours || campaign.calling_hours === null) return body;
  return { ...body, calling_hours: { ...body.calling_hours, slots: campaign.calling_hours.slots } };
}

type Shown = Pick<Schema<"CampaignResponse">, (typeof RULE_FIELDS)[number]>;

/** `isExact` is false when its hours are to the minute, which the grid cannot show. */
export function rulesOf(campaign: Shown): { rules: Rules; isExact: boolean } {
  const hours = campaign.calling_hours;
  const grid = hours === null ? null : gridOf(hours.slots);
  const retry = campaign.retry_config;
  const rules: Rules = {
    accountId: campaign.telephony_configuration_id,
    maxConcurrency: campaign.max_concurrency,
    hasHours: hours !== null,
    week: grid ?? FIRST_RULES.week,
    timezone: hours?.timezone ?? LOCAL_ZONE,
    inCalleeZone: hours?.in_callee_zone ?? false,
    holidays: hours?.holidays ?? [],
    countries: campaign.destinations.countries ?? [],
    allowsPremium: campaign.destinations.allow_premium,
    hasRetries: retry.enabled,
    maxRetries: retry.max_retries,
    retryMinutes: retry.retry_delay_seconds / 60,
    onBusy: retry.retry_on_busy,
    onNoAnswer: retry.retry_on_no_answer,
    onVoicemail: retry.retry_on_voicemail,
    spendCap: campaign.spend_cap_cents === null ? "" : campaign.spend_cap_cents / 100,
    voicemail: campaign.voicemail?.action ?? "workflow",
    voicemailMessage: campaign.voicemail?.message ?? "",
  };
  return { rules, isExact: hours === null || grid !== null };
}
