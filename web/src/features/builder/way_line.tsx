/** A way from one step to another: a line with its label and the keys that take it. */

import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getBezierPath, useStore } from "@xyflow/react";
import { memo } from "react";
import { type Way, digitsOf, wayLabel } from "../../graph/definition";
import { aroundPath } from "../../graph/way_path";
import { useMarks } from "./marks";
import classes from "./canvas.module.css";

export type WayEdge = Edge<{ way: Way; row: number }, "way">;

/** Ways between the same two steps share a line; their labels stand below each other. */
const ROW = 22;
/** Below this zoom labels cannot be read and are not drawn. */
const READABLE = 0.45;

export const WayLine = memo(function WayLine(props: EdgeProps<WayEdge>) {
  const { id, data, selected, markerEnd, interactionWidth } = props;
  const marks = useMarks();
  const isReadable = useStore((state) => state.transform[2] >= READABLE);
  const around = aroundPath(props.sourceX, props.sourceY, props.targetX, props.targetY);
  const [path, x, y] = around === null ? getBezierPath(props) : [around.path, around.x, around.y];
  const way = data?.way;
  const found = marks.findings.byWay.get(id) ?? [];
  const problem = found.some((finding) => finding.isError) ? "error" : found.length > 0 ? "warning" : undefined;
  const label = way === undefined ? "" : wayLabel(way);
  const digits = way === undefined ? "" : digitsOf(way);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        className={classes.way}
        data-selected={selected || undefined}
        data-problem={problem}
        {...(markerEnd === undefined ? {} : { markerEnd })}
        {...(interactionWidth === undefined ? {} : { interactionWidth })}
      />
      {isReadable && (label !== "" || digits !== "" || problem !== undefined) && (
        <EdgeLabelRenderer>
          <div
            className={classes.label}
            data-selected={selected || undefined}
            data-problem={problem}
            title={found.map((finding) => finding.message).join("\n") || String(way?.data["condition"] ?? "")}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y + (data?.row ?? 0) * ROW}px)` }}
          >
            {digits !== "" && <kbd>{digits}</kbd>}
            {label || (digits === "" ? "no label" : "")}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
