/** A place in a recording, as it stands in the address of a run's page: whole seconds. */

export interface Place {
  at?: number;
}

export function placeIn(seconds: number): string {
  return `?at=${Math.floor(seconds)}`;
}

/** Keeps what can be used of an address that anybody may have typed. */
export function readPlace(raw: Record<string, unknown>): Place {
  const at = raw["at"];
  return typeof at === "number" && Number.isSafeInteger(at) && at > 0 ? { at } : {};
}
