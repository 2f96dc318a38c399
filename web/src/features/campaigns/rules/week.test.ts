import { describe, expect, it } from "vitest";
import { gridOf, describeWeek, openHours, paintHours, PRESETS, slotsOf, weekOf } from "./week";

describe("calling hours", () => {
  const weekdays = PRESETS[0]?.week ?? [];

  it("become one slot for each open stretch, and the same grid again", () => {
    expect(slotsOf(weekdays)).toHaveLength(5);
    expect(slotsOf(weekdays)[0]).toEqual({ day: "monday", start: "09:00", end: "17:00" });
    expect(gridOf(slotsOf(weekdays))).toEqual(weekdays);
    const odd = weekOf((day, half) => day === 6 && (half < 2 || half > 40));
    expect(slotsOf(odd)).toEqual([
      { day: "sunday", start: "00:00", end: "01:00" },
      { day: "sunday", start: "20:30", end: "24:00" },
    ]);
    expect(gridOf(slotsOf(odd))).toEqual(odd);
  });

  it("cross midnight into the next day, and from Sunday into Monday", () => {
    const week = gridOf([{ day: "sunday", start: "23:00", end: "01:00" }]);
    expect(week?.[6]?.slice(46)).toEqual([true, true]);
    expect(week?.[0]?.slice(0, 3)).toEqual([true, true, false]);
  });

  it("are no grid when they are to the minute", () => {
    expect(gridOf([{ day: "monday", start: "09:15", end: "17:00" }])).toBeNull();
  });

  it("are painted from any corner to any other", () => {
    const week = paintHours(
      weekOf(() => false),
      [2, 10],
      [0, 8],
      true,
    );
    expect(openHours(week)).toBe(4.5);
    expect(paintHours(week, [0, 8], [2, 10], false).flat().some(Boolean)).toBe(false);
  });

  it("are said in words", () => {
    expect(describeWeek(slotsOf(weekdays))).toBe("Mon–Fri 9 AM–5 PM");
    expect(
      describeWeek([
        { day: "saturday", start: "10:00", end: "12:00" },
        { day: "monday", start: "08:30", end: "09:00" },
        { day: "sunday", start: "00:00", end: "24:00" },
      ]),
    ).toBe("Mon 8:30 AM–9 AM; Sat 10 AM–12 PM; Sun all day");
  });
});
