/** What a browser call looks like at any moment, as a pure function of what happened. */

import { settleTranscript } from "../../lib/live/transcript";
import type { CallEvent } from "../../lib/live/events";
import { EMPTY_RUN, type LiveRun, applyRunEvent } from "../../lib/live/live-run";

export type Phase =
  | { name: "idle" }
  | { name: "asking" }
  | { name: "denied"; reason: "insecure" | "denied" | "missing" | "busy" }
  | { name: "connecting" }
  | { name: "live" }
  | { name: "reconnecting" }
  | { name: "ended"; status: string; outcome: string | null; endReason: string | null }
  | { name: "failed"; message: string };

export interface CallState extends Pick<LiveRun, "transcript" | "visited" | "tools" | "turns"> {
  phase: Phase;
  runId: number | null;
}

export const IDLE: CallState = { ...EMPTY_RUN, phase: { name: "idle" }, runId: null };

export type CallAction =
  | { type: "started" }
  | { type: "phase"; phase: Phase }
  | { type: "run"; runId: number }
  | { type: "event"; event: CallEvent };

export function reduce(state: CallState, action: CallAction): CallState {
  switch (action.type) {
    case "started":
      return { ...IDLE, phase: { name: "asking" } };
    case "run":
      return { ...state, runId: action.runId };
    case "event":
      return { ...state, ...applyRunEvent({ ...EMPTY_RUN, ...state }, action.event) };
    case "phase":
      return isOver(action.phase) ? over(state, action.phase) : { ...state, phase: action.phase };
  }
}

export function isBusy(phase: Phase): boolean {
  return ["asking", "connecting", "live", "reconnecting"].includes(phase.name);
}

export function isOver(phase: Phase): boolean {
  return phase.name === "ended" || phase.name === "failed" || phase.name === "denied";
}

/** The first word on how a call ended stands. */
function over(state: CallState, phase: Phase): CallState {
  if (isOver(state.phase)) return state;
  return { ...state, phase, transcript: { ...settleTranscript(state.transcript), nodeId: null } };
}
