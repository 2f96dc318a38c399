/** Both sides of a call around one line: the caller above it, the agent below. */

import { heightsOf } from "./strip-shapes";
import classes from "./call-strip.module.css";

/** A bar and the gap after it, in pixels, and how much of that is the bar. */
const BAR_PX = 3;
const BAR_SHARE = 0.66;

/** The level that fills the strip in a call of nothing but hiss. */
const QUIETEST = 60;

interface SoundWaveProps {
  caller: readonly number[];
  agent: readonly number[];
  /** In pixels. */
  width: number;
  height: number;
}

export function SoundWave({ caller, agent, width, height }: SoundWaveProps) {
  const bars = Math.max(1, Math.floor(width / BAR_PX));
  const middle = height / 2;
  // A quiet line fills the strip as a loud one does, and hiss does not.
  const loudest = Math.max(QUIETEST, ...caller, ...agent);
  const tallOf = (share: number) => Math.max(1, share * (middle - 1));
  const above = pathOf(heightsOf(caller, bars, loudest), width, (share) => [middle - tallOf(share), middle - 0.5]);
  const below = pathOf(heightsOf(agent, bars, loudest), width, (share) => [middle + 0.5, middle + tallOf(share)]);
  return (
    <svg className={classes.sound} viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path className={classes.caller} d={above} />
      <path className={classes.agent} d={below} />
    </svg>
  );
}

function pathOf(heights: readonly number[], width: number, endsOf: (share: number) => [number, number]): string {
  const pitch = width / Math.max(1, heights.length);
  const wide = (pitch * BAR_SHARE).toFixed(2);
  return heights
    .map((height, index) => {
      const [from, until] = endsOf(height);
      return `M${(index * pitch).toFixed(2)} ${from.toFixed(1)}h${wide}V${until.toFixed(1)}h-${wide}z`;
    })
    .join("");
}
