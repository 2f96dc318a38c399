/** A place in a run, as it stands in the address of its page: seconds from its beginning. */

export interface Place {
  at?: number;
  /** Its beginning is heard at once. */
  listen?: true;
}

export function placeIn(seconds: number): string {
  return `?at=${Math.floor(seconds)}`;
}

export function placeOf(seconds: number): Place {
  return seconds > 0 ? { at: seconds } : {};
}

/** Keeps what can be used of an address that anybody may have typed. */
export function readPlace(raw: Record<string, unknown>): Place {
  const { at, listen } = raw;
  return {
    ...(typeof at === "number" && Number.isFinite(at) ? placeOf(at) : {}),
    ...(listen === true ? { listen } : {}),
  };
}
