/** Periods after which data is deleted, in days; null keeps it. The organization and each agent have their own. */

import { formatDay } from "../format/format";

export type PeriodName = "recordings_days" | "transcripts_days" | "runs_days" | "contacts_days" | "audit_days";
export type Periods = Readonly<Partial<Record<PeriodName, number | null>>>;
export type PeriodInput = number | string;

export interface PeriodField<Name extends PeriodName = PeriodName> {
  name: Name;
  label: string;
  description: string;
  /** What a shorter period deletes; the day after which data stays follows it. */
  deletes: string;
  minDays: number;
}

export const MAX_DAYS = 3650;

export const CALL_FIELDS = [
  {
    name: "recordings_days",
    label: "Recordings",
    description: "Days until recordings are deleted.",
    deletes: "Recordings of calls before",
    minDays: 1,
  },
  {
    name: "transcripts_days",
    label: "Transcripts",
    description: "Days until transcripts, variables, and reviews are deleted. Times, steps, and cost stay.",
    deletes: "Transcripts, variables, and reviews of calls before",
    minDays: 1,
  },
  {
    name: "runs_days",
    label: "Runs",
    description: "Days until whole runs are deleted, with their recordings and transcripts. Usage and charges stay.",
    deletes: "Whole runs, with recordings and transcripts, from before",
    minDays: 1,
  },
] as const satisfies readonly PeriodField[];

export const ORGANIZATION_FIELDS = [
  ...CALL_FIELDS,
  {
    name: "contacts_days",
    label: "Contacts",
    description:
      "Days after a campaign ends until phone numbers and variables are removed from its contacts. Counts and the report stay.",
    deletes: "Phone numbers and variables in contacts of campaigns that ended before",
    minDays: 1,
  },
  {
    name: "audit_days",
    label: "Audit log",
    description: "Days until audit log entries are deleted; at least 90.",
    deletes: "Audit log entries from before",
    minDays: 90,
  },
] as const satisfies readonly PeriodField[];

export function toDays(value: PeriodInput): number | null {
  return value === "" ? null : Number(value);
}

/** Whether the API would take these periods; what it says about others stands at their fields. */
export function areValidPeriods(periods: Periods, fields: readonly PeriodField[]): boolean {
  return fields.every(({ name, minDays }) => {
    const days = periods[name] ?? null;
    return days === null || (Number.isInteger(days) && days >= minDays && days <= MAX_DAYS);
  });
}

/** What `next` deletes that `current` keeps, one phrase for each shortened period. */
export function describeDeletions(
  current: Periods,
  next: Periods,
  fields: readonly PeriodField[],
  now: Date,
): string[] {
  return fields.flatMap(({ name, deletes }) => {
    const before = current[name] ?? null;
    const days = next[name] ?? null;
    if (days === null || (before !== null && days >= before)) return [];
    return [`${deletes} ${formatDay(new Date(now.getTime() - days * 86_400_000))}`];
  });
}
