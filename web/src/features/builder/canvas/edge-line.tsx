/** An edge from one step to another: a line with its label and the keys that take it. */

import { BaseEdge, type Edge, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { createPortal } from "react-dom";
import { type GraphEdge, digitsOf, text, edgeLabel } from "../../../graph/definition";
import { aroundPath } from "../../../graph/layout/edge-path";
import { useLabelLayer } from "./label-layer";
import { coverageMark, TakenCount } from "../coverage/taken-count";
import { useMarks } from "../state/marks";
import classes from "./canvas.module.css";

export type CanvasEdge = Edge<{ edge: GraphEdge; row: number }, "edge">;

/** Edges between the same two steps share a line; their labels stand below each other. */
const ROW = 22;
export const EdgeLine = memo(function EdgeLine(props: EdgeProps<CanvasEdge>) {
  const { id, data, selected, markerEnd, interactionWidth } = props;
  const marks = useMarks();
  const layer = useLabelLayer();
  const around = aroundPath(props.sourceX, props.sourceY, props.targetX, props.targetY);
  const [path, x, y] = around === null ? getBezierPath(props) : [around.path, around.x, around.y];
  const edge = data?.edge;
  const found = marks.validationIssues.byEdge.get(id) ?? [];
  const problem = found.some((issue) => issue.isError) ? "error" : found.length > 0 ? "warning" : undefined;
  const label = edge === undefined ? "" : edgeLabel(edge);
  const digits = edge === undefined ? "" : digitsOf(edge);
  const taken = marks.coverage?.edges.get(id);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        className={classes.edge}
        data-selected={selected || undefined}
        data-problem={problem}
        data-coverage={coverageMark(taken)}
        {...(markerEnd === undefined ? {} : { markerEnd })}
        {...(interactionWidth === undefined ? {} : { interactionWidth })}
      />
      {layer !== null &&
        (label !== "" || digits !== "" || problem !== undefined || taken !== undefined) &&
        createPortal(
          <div
            className={classes.label}
            data-selected={selected || undefined}
            data-problem={problem}
            title={found.map((issue) => issue.message).join("\n") || text(edge?.data["condition"])}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y + (data?.row ?? 0) * ROW}px)` }}
          >
            {marks.coverage !== null && <TakenCount count={taken} noun={marks.coverage.noun} />}
            {digits !== "" && <kbd>{digits}</kbd>}
            <span>{label || (digits === "" && problem !== undefined ? "no label" : "")}</span>
          </div>,
          layer,
        )}
    </>
  );
});
