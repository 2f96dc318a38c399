/** The steps of a call in the order in which they were entered; the one that is heard is lit. */

import { formatClock } from "../../../lib/format/format";
import { type CallEvent, text } from "../../../lib/live/events";
import classes from "./player.module.css";

interface StepTrailProps {
  events: readonly CallEvent[];
  seconds: number;
  onSeek: (seconds: number) => void;
}

export function StepTrail({ events, seconds, onSeek }: StepTrailProps) {
  const steps = events
    .filter((event) => event.type === "node_entered")
    .map((event) => ({ at: event.at_ms / 1000, name: text(event, "name") }));
  if (steps.length < 2) return null;
  const heard = steps.findLastIndex((step) => step.at <= seconds);
  return (
    <ol className={classes.trail} aria-label="Steps of the call">
      {steps.map((step, index) => (
        <li key={step.at}>
          <button
            type="button"
            className={classes.trailStep}
            aria-current={index === heard ? "step" : undefined}
            aria-label={`${step.name}, from ${formatClock(step.at * 1000)}`}
            onClick={() => onSeek(step.at)}
          >
            {step.name}
          </button>
        </li>
      ))}
    </ol>
  );
}
