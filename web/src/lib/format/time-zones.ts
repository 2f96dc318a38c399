/** Time zones as people write them: "America/New York", which a search for "new york" finds. */

export function zoneName(zone: string): string {
  return zone.replaceAll("_", " ");
}

/** All of them as a Select wants them, UTC first. */
export function zoneChoices(): { value: string; label: string }[] {
  const others = Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC");
  return ["UTC", ...others].map((zone) => ({ value: zone, label: zoneName(zone) }));
}
