import { describe, expect, it } from "vitest";
import {
  formatClock,
  formatDuration,
  formatMilliseconds,
  singularize,
  formatTimeUntil,
  formatTimeAgo,
  formatValue,
  humanize,
} from "./format";

describe("formats", () => {
  it("shows seconds as minutes", () => {
    expect([formatDuration(0), formatDuration(59.6), formatDuration(125), formatDuration(null)]).toEqual([
      "0:00",
      "1:00",
      "2:05",
      "–",
    ]);
    expect([formatClock(59_999), formatClock(-5)]).toEqual(["0:59", "0:00"]);
  });

  it("shows short waits in milliseconds and long ones in seconds", () => {
    expect([
      formatMilliseconds(87.4),
      formatMilliseconds(999),
      formatMilliseconds(999.6),
      formatMilliseconds(1240),
      formatMilliseconds(undefined),
    ]).toEqual(["87 ms", "999 ms", "1.00 s", "1.24 s", "–"]);
  });

  it("says how long ago something was", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(formatTimeAgo("2026-03-01T11:59:40Z", now)).toBe("just now");
    expect(formatTimeAgo("2026-03-01T11:30:00Z", now)).toBe("30 minutes ago");
    expect(formatTimeAgo("2026-03-01T11:00:20Z", now)).toBe("1 hour ago");
    expect(formatTimeAgo("2026-03-01T10:00:00Z", now)).toBe("2 hours ago");
    expect(formatTimeAgo("2025-12-24T10:00:00Z", now)).toContain("2025");
  });

  it("counts one of what there are many of", () => {
    expect([singularize("entries"), singularize("runs")]).toEqual(["entry", "run"]);
  });

  it("says how soon something will be", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(
      ["2026-03-01T11:59:40Z", "2026-03-01T12:00:20Z", "2026-03-01T12:30:00Z"].map((at) => formatTimeUntil(at, now)),
    ).toEqual(["now", "in 20 seconds", "in 30 minutes"]);
    expect(formatTimeUntil("2026-03-02T12:00:00Z", now)).toContain("2026");
  });

  it("reads stable codes as words", () => {
    expect(humanize("caller_hung_up")).toBe("Caller hung up");
    expect([true, false, "Tuesday", 4, ["a"]].map(formatValue)).toEqual(["Yes", "No", "Tuesday", "4", '["a"]']);
  });
});
