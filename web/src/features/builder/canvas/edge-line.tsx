/** A way from one step to another: a line with its label and the keys that take it. */

import { BaseEdge, type Edge, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { createPortal } from "react-dom";
import { type Way, digitsOf, text, wayLabel } from "../../../graph/definition";
import { aroundPath } from "../../../graph/layout/edge-path";
import { useLabelLayer } from "./label-layer";
import { useMarks } from "../state/marks";
import classes from "./canvas.module.css";

export type WayEdge = Edge<{ way: Way; row: number }, "way">;

/** Ways between the same two steps share a line; their labels stand below each other. */
const ROW = 22;
export const WayLine = memo(function WayLine(props: EdgeProps<WayEdge>) {
  const { id, data, selected, markerEnd, interactionWidth } = props;
  const marks = useMarks();
  const layer = useLabelLayer();
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
      {layer !== null &&
        (label !== "" || digits !== "" || problem !== undefined) &&
        createPortal(
          <div
            className={classes.label}
            data-selected={selected || undefined}
            data-problem={problem}
            title={found.map((finding) => finding.message).join("\n") || text(way?.data["condition"])}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y + (data?.row ?? 0) * ROW}px)` }}
          >
            {digits !== "" && <kbd>{digits}</kbd>}
            {label || (digits === "" ? "no label" : "")}
          </div>,
          layer,
        )}
    </>
  );
});
