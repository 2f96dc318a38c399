import { expect, it } from "vitest";
import { bodyOf, changedOf, FIRST_RULES, problemOf, rulesOf } from "./draft";

const CAMPAIGN = {
  telephony_configuration_id: 7,
  max_concurrency: 3,
  calling_hours: {
    timezone: "Europe/Oslo",
    slots: [{ day: "monday" as const, start: "09:15", end: "17:00" }],
    holidays: ["2026-12-25"],
    in_callee_zone: true,
  },
  retry_config: {
    enabled: true,
    max_retries: 4,
    retry_delay_seconds: 90,
    retry_on_busy: true,
    retry_on_no_answer: false,
    retry_on_voicemail: true,
    backoff_factor: 3,
  },
  destinations: { countries: ["NO"], allow_premium: false },
  spend_cap_cents: 1250,
  voicemail: null,
};

it("sends back what a campaign has when nothing was changed", () => {
  const { backoff_factor: _, ...retry } = CAMPAIGN.retry_config;
  expect(changedOf(rulesOf(CAMPAIGN).rules, CAMPAIGN)).toEqual({ ...CAMPAIGN, retry_config: retry });
});

it("keeps hours to the minute while others of their rules change, until the grid is painted", () => {
  const { rules } = rulesOf(CAMPAIGN);
  expect(changedOf({ ...rules, timezone: "UTC", holidays: [] }, CAMPAIGN).calling_hours).toEqual({
    ...CAMPAIGN.calling_hours,
    timezone: "UTC",
    holidays: [],
  });
  const painted = { ...rules, week: rules.week.map((day) => day.map((_, half) => half === 20)) };
  expect(changedOf(painted, CAMPAIGN).calling_hours?.slots).toHaveLength(7);
  expect(changedOf({ ...rules, hasHours: false }, CAMPAIGN).calling_hours).toBeNull();
});

it("asks for numbers that are not typed yet", () => {
  expect(problemOf(FIRST_RULES)).toBeNull();
  expect(problemOf({ ...FIRST_RULES, maxConcurrency: "" })).toContain("at once");
  expect(problemOf({ ...FIRST_RULES, retryMinutes: "" })).toContain("minutes");
  expect(problemOf({ ...FIRST_RULES, maxRetries: 21 })).toBe("Enter at most 20 retries.");
  expect(problemOf({ ...FIRST_RULES, hasHours: true, holidays: ["2026-12-25", "25 Dec"] })).toBe(
    "“25 Dec” is not a date. Use the format 2026-12-25.",
  );
  expect(bodyOf(FIRST_RULES)).toMatchObject({ telephony_configuration_id: null, destinations: { countries: null } });
});
