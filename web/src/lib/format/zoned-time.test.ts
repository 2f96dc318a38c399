import { expect, it } from "vitest";
import { formatInZone, momentOf, wallTimeIn } from "./zoned-time";

const NEW_YORK = "America/New_York";

it("reads a time on the clocks of a zone, in winter and in summer", () => {
  expect(momentOf({ day: "2026-12-01", time: "09:00" }, NEW_YORK)?.toISOString()).toBe("2026-12-01T14:00:00.000Z");
  expect(momentOf({ day: "2026-07-01", time: "09:00" }, NEW_YORK)?.toISOString()).toBe("2026-07-01T13:00:00.000Z");
  expect(momentOf({ day: "2026-12-01", time: "00:15" }, "Asia/Kathmandu")?.toISOString()).toBe(
    "2026-11-30T18:30:00.000Z",
  );
});

it("knows no time that the clocks skip, and takes the first of two", () => {
  expect(momentOf({ day: "2026-03-08", time: "02:30" }, NEW_YORK)).toBeNull();
  expect(momentOf({ day: "2026-11-01", time: "01:30" }, NEW_YORK)?.toISOString()).toBe("2026-11-01T05:30:00.000Z");
});

it("knows no time that was not entered", () => {
  expect(momentOf({ day: "", time: "09:00" }, "UTC")).toBeNull();
  expect(momentOf({ day: "2026-12-01", time: "" }, "UTC")).toBeNull();
});

it("shows a moment on the clocks of a zone", () => {
  const moment = "2026-12-01T14:00:00Z";
  expect(wallTimeIn(new Date("2026-12-01T05:00:00Z"), NEW_YORK)).toEqual({ day: "2026-12-01", time: "00:00" });
  expect(formatInZone(moment, NEW_YORK, new Date("2026-11-30T00:00:00Z"))).toMatch(/Tue.*Dec.*9:00/);
  expect(formatInZone(moment, NEW_YORK, new Date("2026-11-30T00:00:00Z"))).not.toContain("2026");
  expect(formatInZone(moment, NEW_YORK, new Date("2025-11-30T00:00:00Z"))).toContain("2026");
});
