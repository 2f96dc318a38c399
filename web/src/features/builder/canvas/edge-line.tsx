/** An edge from one step to another: a line with its label and the keys that take it. */

import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { createPortal } from "react-dom";
import { type GraphEdge, type Point, digitsOf, text, edgeLabel } from "../../../graph/definition";
import { drawCurves, edgeCurves, pointAt } from "../../../graph/layout/edge-path";
import { LABEL_ROW, type Route } from "../../../graph/layout/routes";
import { useLabelLayer } from "./label-layer";
import { coverageMark, TakenCount, UnusedKey, UnusedWords } from "../coverage/taken-count";
import { useMarks } from "../state/marks";
import classes from "./canvas.module.css";

export type CanvasEdge = Edge<{ edge: GraphEdge; row: number; route: Route | undefined }, "edge">;

/** How far (px) an end lies from where its route expects it at most: handles stand out of their cards. */
const CLOSE = 14;

export const EdgeLine = memo(function EdgeLine(props: EdgeProps<CanvasEdge>) {
  const { id, data, selected, markerEnd, interactionWidth } = props;
  const marks = useMarks();
  const layer = useLabelLayer();
  const { path, x, y } = drawEdge(props);
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
            data-label-of={id}
            data-selected={selected || undefined}
            data-problem={problem}
            title={found.map((issue) => issue.message).join("\n") || text(edge?.data["condition"])}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {marks.coverage !== null && <TakenCount count={taken} noun={marks.coverage.noun} />}
            {marks.coverage !== null && <UnusedWords coverage={marks.coverage} edgeId={id} />}
            {digits !== "" && (
              <kbd>
                {digits}
                {marks.coverage !== null && <UnusedKey coverage={marks.coverage} edgeId={id} />}
              </kbd>
            )}
            <span>{label || (digits === "" && problem !== undefined ? "no label" : "")}</span>
          </div>,
          layer,
        )}
    </>
  );
});

/** The path, and where its label stands. A step that is being dragged leaves its routes. */
function drawEdge({ sourceX, sourceY, targetX, targetY, data }: EdgeProps<CanvasEdge>) {
  const source = { x: sourceX, y: sourceY };
  const target = { x: targetX, y: targetY };
  const route = data?.route;
  const holds = route !== undefined && isClose(source, route.source) && isClose(target, route.target);
  const curves = edgeCurves(source, target, holds ? route.lane : undefined);
  if (holds) return { path: drawCurves(curves), ...route.label };
  const middle = pointAt(curves, 0.5);
  return { path: drawCurves(curves), x: middle.x, y: middle.y + (data?.row ?? 0) * LABEL_ROW };
}

function isClose(one: Point, other: Point): boolean {
  return Math.abs(one.x - other.x) <= CLOSE && Math.abs(one.y - other.y) <= CLOSE;
}
