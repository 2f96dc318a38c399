import { expect, it } from "vitest";
import {
  describeRetries,
  describeBreaker,
  calledFrom,
  describeDueTime,
  describeHours,
  formatInterval,
  describeDestinations,
  describeVoicemail,
} from "./rule-descriptions";

it("says how long a wait is in the unit that fits", () => {
  expect([1, 20, 90, 300, 5400, 3600 * 48].map(formatInterval)).toEqual([
    "1 second",
    "20 seconds",
    "1.5 minutes",
    "5 minutes",
    "1.5 hours",
    "2 days",
  ]);
});

it("says when somebody is called again", () => {
  expect(describeRetries({ enabled: false })).toBe("Never");
  expect(describeRetries({ max_retries: 1, retry_delay_seconds: 20, retry_on_voicemail: false })).toBe(
    "Once after busy or no answer, 20 seconds later",
  );
  expect(describeRetries({ max_retries: 3, backoff_factor: 2, delays: { busy: 60 } })).toBe(
    "Up to 3 times after busy, no answer, or voicemail, 5 minutes later, each wait 2 times the last, 60 seconds after busy",
  );
});

it("says what voicemail hears", () => {
  expect(describeVoicemail(null)).toBe("Agent setting");
  expect(describeVoicemail({ action: "hang_up", message: null })).toBe("Hangs up");
  expect(describeVoicemail({ action: "leave_message", message: "Hi" })).toBe("Leaves a message: “Hi”");
});

it("says where and when people may be called", () => {
  expect(describeDestinations({ countries: ["NO", "US"], allow_premium: false })).toBe(
    "Norway, United States, no premium-rate numbers",
  );
  expect(describeDestinations({ countries: null, allow_premium: true })).toBe(
    "All countries, including premium-rate numbers",
  );
  const slots = [{ day: "monday", start: "09:00", end: "17:00" }] as const;
  expect(
    describeHours({ timezone: "America/New_York", slots: [...slots], in_callee_zone: true, holidays: ["2026-12-25"] }),
  ).toMatch(/^Mon 9 AM–5 PM, America\/New York and in the contact's time zone; except .*2026/);
});

it("says what stops a campaign, and from where it calls", () => {
  expect(describeBreaker({ failure_threshold: 0.25, min_calls_in_window: 8, window_seconds: 600 })).toBe(
    "When 25% of at least 8 calls within 10 minutes fail",
  );
  expect(calledFrom(["+1", "+2", "+3"], "twilio")).toBe("From +1 and 2 other numbers in rotation");
  expect(calledFrom([], "twilio")).toBe("No number to call from");
});

it("never says that somebody is in line while nobody is called", () => {
  expect(describeDueTime({ status: "draft", next_open_at: null }, null, "")).toBe("After the campaign starts");
  expect(describeDueTime({ status: "paused", next_open_at: null }, "retry_delay", "at 9")).toBe(
    "After the campaign resumes",
  );
  expect(describeDueTime({ status: "running", next_open_at: "2026-11-23T08:00:00Z" }, null, "")).toBe(
    "When calling hours begin",
  );
  expect(describeDueTime({ status: "running", next_open_at: null }, "retry_delay", "at 9")).toBe("Retry at 9");
});
