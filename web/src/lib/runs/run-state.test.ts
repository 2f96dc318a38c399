import { expect, it } from "vitest";
import { hasStrip } from "./run-state";

it("leaves no room for the strip of what has no sound", () => {
  const call = { status: "completed", mode: "twilio" };
  expect(hasStrip(call, 12.5)).toBe(true);
  expect(hasStrip({ ...call, status: "in_progress" }, 12.5)).toBe(false);
  expect(hasStrip({ ...call, mode: "textchat" }, 12.5)).toBe(false);
  expect([hasStrip({ ...call, status: "busy" }, 0), hasStrip({ ...call, status: "busy" }, null)]).toEqual([
    false,
    false,
  ]);
});
