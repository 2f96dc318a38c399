/** What a call strip is drawn from: bars of sound, colors of steps, marks in groups. Pure. */

import { formatClock, formatMilliseconds } from "../../../lib/format/format";
import type { Schema } from "../../../lib/api/types";

export type Strip = Omit<Schema<"CallStrip">, "workflow_run_id">;
export type Mark = Schema<"StripMark">;
export type MarkKind = Mark["kind"];

/** How many colors steps have; a call with more of them begins again. */
export const STEP_COLORS = 6;

/** Levels as shares of `most`, for at most so many bars. */
export function heightsOf(levels: readonly number[], bars: number, most: number): number[] {
  if (levels.length === 0) return [];
  const count = Math.max(1, Math.min(bars, levels.length));
  return Array.from({ length: count }, (_, bar) => {
    const from = Math.floor((bar * levels.length) / count);
    const until = Math.max(from + 1, Math.floor(((bar + 1) * levels.length) / count));
    return Math.min(1, Math.max(0, ...levels.slice(from, until)) / most);
  });
}

/** A step keeps its color when the call comes back to it. */
export function stepColors(steps: readonly { node_id: string }[]): number[] {
  const seen = new Map<string, number>();
  return steps.map((step) => {
    const color = seen.get(step.node_id) ?? seen.size % STEP_COLORS;
    seen.set(step.node_id, color);
    return color;
  });
}

export interface MarkGroup {
  share: number;
  marks: Mark[];
}

/** Marks that would cover each other, put together: `apart` is the share of the strip that one of them takes. */
export function groupMarks(marks: readonly Mark[], total: number, apart: number): MarkGroup[] {
  const groups: MarkGroup[] = [];
  if (total <= 0) return groups;
  for (const mark of marks) {
    const share = Math.min(1, mark.start_s / total);
    const last = groups.at(-1);
    if (last !== undefined && share - last.share < apart) last.marks.push(mark);
    else groups.push({ share, marks: [mark] });
  }
  return groups;
}

/** Why the agent did not yield to a sound: the reasons of `interruption_judged`. */
const REASONS: Partial<Record<string, string>> = {
  backchannel: "a listening sound",
  filler: "a filler word",
  aside: "words to someone else",
  turned_away: "words to someone else",
  echo: "its own words",
  no_voice: "a cough or a noise",
  short_sound: "a short sound",
  soft_sound: "a soft sound",
  fragment: "a sound that was taken for a word",
  drawn_out: "a drawn-out sound",
  no_words: "no words",
  steady_noise: "steady noise",
};

export function describeMark(mark: Mark): string {
  const at = formatClock(mark.start_s * 1000);
  const lasted = formatMilliseconds(Math.round((mark.end_s - mark.start_s) * 1000));
  switch (mark.kind) {
    case "barge_in":
      return `${at} Agent interrupted`;
    case "talked_through":
      return `${at} Agent kept talking${REASONS[mark.label] === undefined ? "" : `: ${REASONS[mark.label]}`}`;
    case "not_understood":
      return `${at} Not understood`;
    case "tool_call":
      return `${at} Tool ${mark.label}${mark.is_ok === false ? " failed" : ""}`;
    case "slow_answer":
      return `${at} Slow answer, ${lasted}`;
    default:
      return mark.label === "" ? `${at} Failure` : `${at} Failure: ${mark.label.replaceAll("_", " ")}`;
  }
}

const COUNTED: readonly [MarkKind, string, string][] = [
  ["not_understood", "not understood", "not understood"],
  ["barge_in", "interruption", "interruptions"],
  ["slow_answer", "slow answer", "slow answers"],
  ["failure", "failure", "failures"],
];

/** A strip in words, for those who do not see it. */
export function describeStrip(strip: Strip): string {
  const parts = [formatClock(strip.seconds * 1000)];
  if (strip.steps.length > 0) parts.push(`${strip.steps.length} ${strip.steps.length === 1 ? "step" : "steps"}`);
  for (const [kind, one, several] of COUNTED) {
    const count = strip.marks.filter((mark) => mark.kind === kind).length;
    if (count > 0) parts.push(`${count} ${count === 1 ? one : several}`);
  }
  return parts.join(", ");
}

/**
 * Where a time scale has its numbers: about `count` of them, at round seconds. `labelShare` is the part of the scale that
 * a number takes; one that would leave the scale at its end is left out.
 */
export function ticksOf(seconds: number, count: number, labelShare = 0): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800];
  const step = steps.find((one) => seconds / one <= count) ?? 3600;
  const last = seconds * (1 - labelShare);
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step).filter(
    (tick) => tick === 0 || tick <= last,
  );
}
