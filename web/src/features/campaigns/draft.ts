/** A campaign while it is being made, and as the API takes it. */

import type { Schema } from "../../lib/types";
import { gridOf, openHours, PRESETS, slotsOf, type Week, weekOf } from "./week";

/** The rules that can be changed later, too. */
export interface Rules {
  maxConcurrency: number;
  hasHours: boolean;
  week: Week;
  timezone: string;
  inCalleeZone: boolean;
  hasRetries: boolean;
  maxRetries: number;
  retryMinutes: number;
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
  maxConcurrency: 5,
  hasHours: false,
  week: PRESETS[0]?.week ?? weekOf(() => true),
  timezone: LOCAL_ZONE,
  inCalleeZone: false,
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

type Body = Pick<Schema<"CreateCampaignRequest">, "max_concurrency" | "calling_hours" | "retry_config" | "spend_cap_cents" | "voicemail">;

export function bodyOf(rules: Rules): Body {
  return {
    max_concurrency: rules.maxConcurrency,
    calling_hours: rules.hasHours
      ? { timezone: rules.timezone, slots: slotsOf(rules.week), in_callee_zone: rules.inCalleeZone }
      : null,
    retry_config: {
      enabled: rules.hasRetries,
      max_retries: rules.maxRetries,
      retry_delay_seconds: Math.round(rules.retryMinutes * 60),
      retry_on_busy: rules.onBusy,
      retry_on_no_answer: rules.onNoAnswer,
      retry_on_voicemail: rules.onVoicemail,
      backoff_factor: 1,
    },
    spend_cap_cents: rules.spendCap === "" ? null : Math.round(rules.spendCap * 100),
    voicemail:
      rules.voicemail === "workflow" ? null : { action: rules.voicemail, message: rules.voicemail === "leave_message" ? rules.voicemailMessage : null },
  };
}

/** What stops the second step; the API says the rest. */
export function problemOf(rules: Rules): string | null {
  return rules.hasHours && openHours(rules.week) === 0 ? "Nobody could ever be called: mark some hours, or allow any time." : null;
}

type Shown = Pick<Schema<"CampaignResponse">, "max_concurrency" | "calling_hours" | "retry_config" | "spend_cap_cents" | "voicemail">;

/** `isExact` is false when its hours are to the minute, which the grid cannot show. */
export function rulesOf(campaign: Shown): { rules: Rules; isExact: boolean } {
  const hours = campaign.calling_hours;
  const grid = hours === null ? null : gridOf(hours.slots);
  const retry = campaign.retry_config;
  const rules: Rules = {
    maxConcurrency: campaign.max_concurrency,
    hasHours: hours !== null,
    week: grid ?? FIRST_RULES.week,
    timezone: hours?.timezone ?? LOCAL_ZONE,
    inCalleeZone: hours?.in_callee_zone ?? false,
    hasRetries: retry.enabled ?? true,
    maxRetries: retry.max_retries ?? FIRST_RULES.maxRetries,
    retryMinutes: (retry.retry_delay_seconds ?? 300) / 60,
    onBusy: retry.retry_on_busy ?? true,
    onNoAnswer: retry.retry_on_no_answer ?? true,
    onVoicemail: retry.retry_on_voicemail ?? true,
    spendCap: campaign.spend_cap_cents === null ? "" : campaign.spend_cap_cents / 100,
    voicemail: campaign.voicemail?.action ?? "workflow",
    voicemailMessage: campaign.voicemail?.message ?? "",
  };
  return { rules, isExact: hours === null || grid !== null };
}
