/** The scheduled start of a campaign, as people enter it and as the API takes it. */

import type { Schema } from "../../../lib/api/types";
import { useOrganizationContext } from "../../../lib/organization/organization-context";
import { momentOf, type WallTime, wallTimeIn } from "../../../lib/format/zoned-time";

/** The API takes no later one. */
const MAX_DAYS = 60;
const DAY_MS = 86_400_000;

/** Tomorrow at nine, by the clocks of the zone. */
export function firstStart(zone: string, now: Date = new Date()): WallTime {
  return { day: wallTimeIn(new Date(now.getTime() + DAY_MS), zone).day, time: "09:00" };
}

/** Returns why this start cannot be set, as far as the page can tell; the API checks the rest. */
export function startProblem(start: WallTime, zone: string, now: Date = new Date()): string | null {
  if (start.day === "" || start.time === "") return "Enter a date and a time.";
  const moment = momentOf(start, zone);
  if (moment === null) return "Clocks skip this time in that time zone. Enter another one.";
  if (moment <= now) return "This time is in the past. Enter a later one.";
  return moment.getTime() > now.getTime() + MAX_DAYS * DAY_MS ? `Enter a time within ${MAX_DAYS} days.` : null;
}

export function startsAtOf(start: WallTime, zone: string): string | null {
  return momentOf(start, zone)?.toISOString() ?? null;
}

/** The zone of the calling hours, or else the organization's. */
export function useStartZone(hoursZone: string | undefined): string {
  const where = useOrganizationContext();
  return hoursZone ?? where.data?.preferences.timezone ?? "UTC";
}

/** Returns the wait in ms before the page fetches the campaign again; false: until someone changes it. */
export function refreshWait(
  campaign: Pick<Schema<"CampaignResponse">, "status" | "starts_at" | "start_problem"> | undefined,
  now: number = Date.now(),
): number | false {
  if (campaign?.status === "running") return 30_000;
  if (campaign?.status !== "draft" || !campaign.starts_at || campaign.start_problem) return false;
  return Date.parse(campaign.starts_at) - now < 60_000 ? 3_000 : 30_000;
}
