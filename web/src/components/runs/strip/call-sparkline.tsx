/** A call at a glance, in a row of a list: its sound, its steps beneath, what went wrong as dots above. */

import { describeStrip, stepColors, type Strip } from "./strip-shapes";
import { SoundWave } from "./sound-wave";
import classes from "./call-strip.module.css";

const WIDTH = 144;
const HEIGHT = 22;

/** Without a strip the place stays as wide, so that a list does not jump when strips come. */
export function CallSparkline({ strip }: { strip: Strip | undefined }) {
  if (strip === undefined || strip.seconds <= 0 || strip.caller.length === 0)
    return <span className={classes.sparkline} data-empty />;
  const colors = stepColors(strip.steps);
  const percent = (seconds: number) => `${Math.min(100, (seconds / strip.seconds) * 100)}%`;
  return (
    <span className={classes.sparkline} role="img" aria-label={describeStrip(strip)} title={describeStrip(strip)}>
      <SoundWave caller={strip.caller} agent={strip.agent} width={WIDTH} height={HEIGHT} />
      {strip.marks
        .filter((mark) => mark.kind !== "tool_call")
        .map((mark, index) => (
          <i key={index} className={classes.dot} data-kind={mark.kind} style={{ left: percent(mark.start_s) }} />
        ))}
      <span className={classes.thread}>
        {strip.steps.map((step, index) => (
          <i
            key={index}
            data-color={colors[index]}
            style={{ left: percent(step.start_s), width: percent(step.end_s - step.start_s) }}
          />
        ))}
      </span>
    </span>
  );
}
