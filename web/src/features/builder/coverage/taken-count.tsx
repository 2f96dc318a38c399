/** How often a part of the graph was taken, in words that need no color. */

import { takenBy, toolRemarks, unusedConditions, type CoverageMarks } from "./coverage";
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

interface ConditionProps {
  coverage: CoverageMarks;
  edgeId: string;
}

/** Stands beside the key of a transition that was taken, but never with this key. */
export function UnusedKey({ coverage, edgeId }: ConditionProps) {
  if (!unusedConditions(coverage, edgeId).includes("key")) return null;
  return <span className={classes.unused}> never</span>;
}

/** Stands at a transition that was taken, but only with its key. */
export function UnusedWords({ coverage, edgeId }: ConditionProps) {
  if (!unusedConditions(coverage, edgeId).includes("words")) return null;
  return (
    <span className={classes.count} data-coverage="never">
      never by speech
    </span>
  );
}

/** Which of a step's tools no conversation called, or none saw fail. */
export function ToolCounts({ coverage, data }: { coverage: CoverageMarks; data: Record<string, unknown> }) {
  return toolRemarks(coverage, data).map((remark) => (
    <span key={remark} className={classes.count} data-coverage="never">
      {remark}
    </span>
  ));
}
