/** Which silence of the recording belongs to which turn. Pure. */

import type { Schema } from "../api/types";
import type { ConversationTurn } from "./turns";

export type AnswerTimes = Schema<"AnswerTimes">;

/** The events' clock and the sound can differ by the frames that a recording joins without a seam, and by a detector. */
const TOLERANCE_MS = 250;

/** The silence that each turn's answer ended, in milliseconds, by the turn's index. A turn without one was spoken over. */
export function matchSilences(
  turns: readonly ConversationTurn[],
  answers: AnswerTimes["answers"],
): ReadonlyMap<number, number> {
  const silences = new Map<number, number>();
  const left = new Set(answers);
  for (const { index, timing } of turns) {
    if (timing === null) continue;
    const [nearest] = [...left]
      .filter((answer) => isAround(answer, timing.atMs))
      .sort((a, b) => distance(a, timing.atMs) - distance(b, timing.atMs));
    if (nearest === undefined) continue;
    left.delete(nearest);
    silences.set(index, nearest.silence_ms);
  }
  return silences;
}

/** The first frame was sent in the silence, or where it ended: a voice can begin with silence of its own. */
function isAround(answer: Schema<"AnswerTime">, sentMs: number): boolean {
  return (
    answer.caller_stopped_s * 1000 - TOLERANCE_MS <= sentMs && sentMs <= answer.agent_audible_s * 1000 + TOLERANCE_MS
  );
}

function distance(answer: Schema<"AnswerTime">, sentMs: number): number {
  return Math.abs(answer.agent_audible_s * 1000 - sentMs);
}
