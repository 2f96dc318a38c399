/** Calling hours as a grid of half hours, and back to the slots of the API: pure. */

import { formatTimeOfDay } from "../../../lib/format/format";

export const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export const HALF_HOURS = 48;

export type Day = (typeof DAYS)[number];
/** For each day, from Monday, whether each half hour is open. */
export type Week = boolean[][];

export interface Slot {
  day: Day;
  start: string;
  end: string;
}

export function weekOf(isOpen: (day: number, half: number) => boolean): Week {
  return DAYS.map((_, day) => Array.from({ length: HALF_HOURS }, (_, half) => isOpen(day, half)));
}

/** When calls go out unless somebody chooses other hours: within what the United States allow, 8 to 21. */
export const DEFAULT_WEEK = weekOf((_, half) => half >= 18 && half < 40);

export const PRESETS: { name: string; week: Week }[] = [
  {
    name: `Weekdays ${hoursOf("09:00", "17:00")}`,
    week: weekOf((day, half) => day < 5 && half >= 18 && half < 34),
  },
  {
    name: `Weekdays ${hoursOf("09:00", "20:00")}`,
    week: weekOf((day, half) => day < 5 && half >= 18 && half < 40),
  },
  { name: `Every day ${hoursOf("09:00", "20:00")}`, week: DEFAULT_WEEK },
  { name: "Clear", week: weekOf(() => false) },
];

export function timeOf(half: number): string {
  return `${String(Math.floor(half / 2)).padStart(2, "0")}:${half % 2 === 0 ? "00" : "30"}`;
}

/** One slot for each open stretch of a day; one that reaches midnight ends at 24:00. */
export function slotsOf(week: Week): Slot[] {
  return DAYS.flatMap((day, index) => {
    const open = week[index] ?? [];
    const slots: Slot[] = [];
    for (let half = 0; half < HALF_HOURS; half += 1) {
      if (!open[half] || open[half - 1]) continue;
      let end = half;
      while (open[end]) end += 1;
      slots.push({ day, start: timeOf(half), end: timeOf(end) });
    }
    return slots;
  });
}

/** The grid of slots, or null when one of them does not begin and end on the half hour. */
export function gridOf(slots: readonly { day: string; start: string; end: string }[]): Week | null {
  const week = weekOf(() => false);
  for (const slot of slots) {
    const day = DAYS.indexOf(slot.day as Day);
    const start = halfOf(slot.start);
    const end = halfOf(slot.end);
    if (day === -1 || start === null || end === null) return null;
    // At or before its start: the slot ends on the next day.
    const until = end > start ? end : end + HALF_HOURS;
    for (let half = start; half < until; half += 1) {
      const row = week[(day + Math.floor(half / HALF_HOURS)) % 7];
      if (row) row[half % HALF_HOURS] = true;
    }
  }
  return week;
}

function halfOf(time: string): number | null {
  const [hours, minutes] = time.split(":").map(Number);
  return hours === undefined || (minutes !== 0 && minutes !== 30) ? null : hours * 2 + (minutes === 30 ? 1 : 0);
}

/** `week` with a rectangle between two cells set to `isOpen`. */
export function paintHours(
  week: Week,
  from: readonly [number, number],
  to: readonly [number, number],
  isOpen: boolean,
): Week {
  const days = [Math.min(from[0], to[0]), Math.max(from[0], to[0])] as const;
  const halves = [Math.min(from[1], to[1]), Math.max(from[1], to[1])] as const;
  return week.map((row, day) =>
    day < days[0] || day > days[1]
      ? row
      : row.map((was, half) => (half < halves[0] || half > halves[1] ? was : isOpen)),
  );
}

export function openHours(week: Week): number {
  return week.flat().filter(Boolean).length / 2;
}

function hoursOf(start: string, end: string): string {
  return start === "00:00" && end === "24:00" ? "all day" : `${formatTimeOfDay(start)}–${formatTimeOfDay(end)}`;
}

/** "Mon–Fri 9 AM–5 PM": days with the same hours together. */
export function describeWeek(slots: readonly { day: string; start: string; end: string }[]): string {
  const hoursOn = (day: Day) =>
    slots
      .filter((slot) => slot.day === day)
      .map((slot) => hoursOf(slot.start, slot.end))
      .join(", ");
  const groups: { from: number; to: number; hours: string }[] = [];
  DAYS.forEach((day, index) => {
    const hours = hoursOn(day);
    const last = groups.at(-1);
    if (hours === "") return;
    if (last && last.hours === hours && last.to === index - 1) last.to = index;
    else groups.push({ from: index, to: index, hours });
  });
  const name = (index: number) => DAYS[index]?.slice(0, 3).replace(/^./, (letter) => letter.toUpperCase()) ?? "";
  return groups
    .map((group) => `${name(group.from)}${group.to > group.from ? `–${name(group.to)}` : ""} ${group.hours}`)
    .join("; ");
}
