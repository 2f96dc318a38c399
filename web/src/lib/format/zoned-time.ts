/** Dates and times in a time zone other than the reader's. */

export interface WallTime {
  /** As 2026-12-01. */
  day: string;
  /** As 09:00. */
  time: string;
}

/** Returns what clocks in a zone show at a moment. */
export function wallTimeIn(moment: Date, zone: string): WallTime {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(moment);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? "";
  return {
    day: `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`,
    time: `${part("hour")}:${part("minute")}`,
  };
}

/** Returns when clocks in a zone show this, the first moment if there are two; null if they never do. */
export function momentOf({ day, time }: WallTime, zone: string): Date | null {
  const asUtc = Date.parse(`${day}T${time}:00Z`);
  if (Number.isNaN(asUtc)) return null;
  const offsets = [-24, 24].map((hours) => offsetAt(asUtc + hours * 3_600_000, zone));
  const moments = offsets.map((offset) => new Date(asUtc - offset)).sort((a, b) => a.getTime() - b.getTime());
  return (
    moments.find((moment) => {
      const shown = wallTimeIn(moment, zone);
      return shown.day === day && shown.time === time;
    }) ?? null
  );
}

function offsetAt(at: number, zone: string): number {
  const minute = Math.floor(at / 60_000) * 60_000;
  const { day, time } = wallTimeIn(new Date(minute), zone);
  return Date.parse(`${day}T${time}:00Z`) - minute;
}

/** Returns "Tue, Dec 1, 9:00 AM" in a zone, with the year unless it is this year. */
export function formatInZone(iso: string, zone: string, now: Date = new Date()): string {
  const moment = new Date(iso);
  const isThisYear = wallTimeIn(moment, zone).day.slice(0, 4) === wallTimeIn(now, zone).day.slice(0, 4);
  return moment
    .toLocaleString(undefined, {
      timeZone: zone,
      weekday: "short",
      day: "numeric",
      month: "short",
      ...(isThisYear ? {} : { year: "numeric" }),
      hour: "numeric",
      minute: "2-digit",
    })
    .replaceAll("\u202f", " ");
}
