/** Brings into view what was asked for, and the step where a call is. */

import { type ReactFlowState, useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect } from "react";
import { notesOf } from "../../../graph/editing/notes";
import { areInside } from "../../../graph/places";
import { LABELS_FROM } from "./zoom-detail";
import { useEditorContext } from "../state/editor";
import { focusAfterRender, nodeElement } from "../state/focus-after-render";
import { useMarks } from "../state/marks";

/** What lies over the canvas at its upper and lower edge, in pixels: a lit step below it would hardly be seen. */
const TOOLS = 60;

/** What of the canvas can be seen, without as much of its upper and lower edge; also while the canvas is hidden. */
function viewOf({ transform: [x, y, zoom], width, height }: ReactFlowState, edge = 0) {
  return {
    from: { x: -x / zoom, y: (edge - y) / zoom },
    until: { x: (width - x) / zoom, y: (height - edge - y) / zoom },
  };
}

export function useReveal(): void {
  const { revealed, document } = useEditorContext();
  const { liveId } = useMarks();
  const flow = useReactFlow();
  const store = useStoreApi();
  useEffect(() => {
    if (revealed === null) return;
    const edges = document.definition.edges
      .filter((edge) => revealed.ids.includes(edge.id))
      .flatMap((edge) => [edge.source, edge.target]);
    const ids = [...revealed.ids, ...edges];
    const nodes = [...document.definition.nodes, ...notesOf(document.definition)].filter(({ id }) => ids.includes(id));
    const isInSight = flow.getZoom() >= LABELS_FROM && areInside(nodes, viewOf(store.getState()));
    // The library brings a step that is focused into view itself, at whatever zoom a flight has just then: no flight where one is.
    const duration = revealed.isFocused ? 0 : 250;
    // A step that was added in this very change is not measured before the next frame.
    const frame = requestAnimationFrame(
      () =>
        !isInSight &&
        void flow.fitView({ nodes: ids.map((id) => ({ id })), duration, maxZoom: 1, minZoom: 0.5, padding: 0.6 }),
    );
    const [first] = revealed.ids;
    const leave =
      revealed.isFocused && first !== undefined
        ? focusAfterRender(() => nodeElement(first), { preventScroll: true })
        : undefined;
    return () => {
      cancelAnimationFrame(frame);
      leave?.();
    };
    // Only a new request moves the canvas, not edits in between.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [revealed, flow, store]);
  useEffect(() => {
    const live = liveId === null ? undefined : flow.getNode(liveId);
    if (live === undefined || areInside([live], viewOf(store.getState(), TOOLS))) return;
    const zoom = Math.min(1, flow.getZoom());
    void flow.fitView({ nodes: [{ id: live.id }], duration: 350, maxZoom: zoom, minZoom: zoom });
  }, [liveId, flow, store]);
}
