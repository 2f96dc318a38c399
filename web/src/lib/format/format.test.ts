import { describe, expect, it } from "vitest";
import { clock, duration, ms, singular, soon, when, words } from "./format";

describe("formats", () => {
  it("shows seconds as minutes", () => {
    expect([duration(0), duration(59.6), duration(125), duration(null)]).toEqual(["0:00", "1:00", "2:05", "–"]);
    expect([clock(59_999), clock(-5)]).toEqual(["0:59", "0:00"]);
  });

  it("shows short waits in milliseconds and long ones in seconds", () => {
    expect([ms(87.4), ms(999), ms(999.6), ms(1240), ms(undefined)]).toEqual([
      "87 ms",
      "999 ms",
      "1.00 s",
      "1.24 s",
      "–",
    ]);
  });

  it("says how long ago something was", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(when("2026-03-01T11:59:40Z", now)).toBe("just now");
    expect(when("2026-03-01T11:30:00Z", now)).toBe("30 minutes ago");
    expect(when("2026-03-01T11:00:20Z", now)).toBe("1 hour ago");
    expect(when("2026-03-01T10:00:00Z", now)).toBe("2 hours ago");
    expect(when("2025-12-24T10:00:00Z", now)).toContain("2025");
  });

  it("counts one of what there are many of", () => {
    expect([singular("entries"), singular("runs")]).toEqual(["entry", "run"]);
  });

  it("says how soon something will be", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(["2026-03-01T11:59:40Z", "2026-03-01T12:00:20Z", "2026-03-01T12:30:00Z"].map((at) => soon(at, now))).toEqual(
      ["now", "in 20 seconds", "in 30 minutes"],
    );
    expect(soon("2026-03-02T12:00:00Z", now)).toContain("2026");
  });

  it("reads stable codes as words", () => {
    expect(words("caller_hung_up")).toBe("Caller hung up");
  });
});
