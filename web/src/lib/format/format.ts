/** Times, durations and names as people read them. */

export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export function formatClock(ms: number): string {
  return formatDuration(Math.floor(Math.max(0, ms) / 1000));
}

export function formatMilliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return Math.round(value) < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(2)} s`;
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 minutes ago" within a day, the date after that. */
export function formatTimeAgo(iso: string, now: number = Date.now()): string {
  const then = new Date(iso);
  const seconds = (then.getTime() - now) / 1000;
  if (Math.abs(seconds) < 45) return "just now";
  // Not "60 minutes ago", nor "24 hours ago".
  if (Math.abs(seconds) < 3570) return RELATIVE.format(Math.round(seconds / 60), "minute");
  if (Math.abs(seconds) < 84_600) return RELATIVE.format(Math.round(seconds / 3600), "hour");
  return formatDay(then);
}

const IS_TWELVE_HOUR = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions().hour12 === true;

/** A time of day as 09:00, by the reader's clock: "9 AM", "9:30 AM" or "09:00". The end of a day is 24:00. */
export function formatTimeOfDay(time: string): string {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const hasMinutes = !IS_TWELVE_HOUR || minutes !== 0;
  return new Date(2000, 0, 1, hours, minutes)
    .toLocaleTimeString(undefined, { hour: "numeric", ...(hasMinutes ? { minute: "2-digit" } : {}) })
    .replace("\u202f", " ");
}

/** What is to come: "in 20 seconds", "in 5 minutes", the day and time after an hour. */
export function formatTimeUntil(iso: string, now: number = Date.now()): string {
  const seconds = Math.round((new Date(iso).getTime() - now) / 1000);
  if (seconds <= 0) return "now";
  if (seconds < 90) return RELATIVE.format(seconds, "second");
  return seconds < 3600 ? RELATIVE.format(Math.round(seconds / 60), "minute") : formatDateTime(iso);
}

/** Cents as money: 1234 → "$12.34"; a part of a cent is shown only where there is nothing else. */
export function formatMoney(cents: number | null | undefined): string {
  if (cents === null || cents === undefined) return "–";
  const digits = cents !== 0 && Math.abs(cents) < 1 ? 4 : 2;
  return `${cents < 0 ? "−" : ""}$${(Math.abs(cents) / 100).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

export function formatCount(value: number): string {
  return value.toLocaleString("en");
}

/** "1 agent", "3 agents". */
export function pluralize(value: number, one: string, more = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : more}`;
}

/** "entries" → "entry", "runs" → "run". */
export function singularize(plural: string): string {
  return plural.replace(/ies$/, "y").replace(/s$/, "");
}

/** Day and time by the reader's clock. */
export function formatDateTime(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return "–";
  return new Date(iso).toLocaleString(undefined, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "numeric",
    minute: "2-digit",
  });
}

/** The day by the reader's clock: "Nov 19, 2026". */
export function formatDay(day: Date): string {
  return day.toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

export function formatFileSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `caller_hung_up` → "Caller hung up". */
export function humanize(name: string): string {
  const spaced = name.replaceAll("_", " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** What a variable holds, as people say it. */
export function formatValue(value: unknown): string {
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return typeof value === "string" ? value : JSON.stringify(value);
}
