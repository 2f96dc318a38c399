/** How often a step or a transition was taken, in words that need no color. */

import { takenBy, type CoverageMarks } from "./coverage";
import classes from "./coverage.module.css";

interface TakenCountProps {
  count: number | undefined;
  noun: CoverageMarks["noun"];
}

export function TakenCount({ count, noun }: TakenCountProps) {
  if (count === undefined) return null;
  return (
    <span className={classes.count} data-coverage={coverageMark(count)} title={takenBy(count, noun)}>
      {count === 0 ? "never" : `${count}×`}
    </span>
  );
}

export function coverageMark(count: number | undefined): "never" | "taken" | undefined {
  if (count === undefined) return undefined;
  return count === 0 ? "never" : "taken";
}
