/** Whether a run goes on, and what is measured of it. */

import type { Run } from "../api/types";

const LIVE = ["initiated", "ringing", "in_progress"];

export function isLive(run: Pick<Run, "status">): boolean {
  return LIVE.includes(run.status);
}

/** A chat has no sound, nor has a call that was not answered; a call's strip is measured when it is over. */
export function hasStrip(run: Pick<Run, "status" | "mode">, seconds: number | null): boolean {
  return run.mode !== "textchat" && !isLive(run) && seconds !== null && seconds > 0;
}
