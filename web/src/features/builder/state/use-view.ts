/** What of the graph is in view: all of it with its lines and labels, which the library's own fit leaves out, and where a new step fits. */

import { getViewportForBounds, useReactFlow, useStoreApi } from "@xyflow/react";
import { useMemo } from "react";
import type { Definition, Note, Point } from "../../../graph/definition";
import { notesOf } from "../../../graph/editing/notes";
import { type Box, union } from "../../../graph/layout/boxes";
import type { Sizes } from "../../../graph/layout/layout";
import { extentOf, geometryOf, obstaclesOf } from "../../../graph/layout/routes";
import { FIT_PADDING, NODE_HEIGHT, NODE_WIDTH, freePlace, nearestFreePlace } from "../../../graph/places";

export interface View {
  /** As large as the cards are drawn. */
  sizes: () => Sizes;
  /** The upper left corner of a step in the middle of what can be seen. */
  middle: () => Point;
  /** As near to the middle as no card is, and no line where there is such a place in view. */
  free: (definition: Definition) => Point;
  /** Shows all of a graph, no larger than it is; `duration` in milliseconds. */
  fit: (definition: Definition, duration: number) => void;
}

export function useView(): View {
  const flow = useReactFlow();
  const store = useStoreApi();
  return useMemo(() => {
    const sizes = () =>
      new Map(
        flow
          .getNodes()
          .map((node) => [
            node.id,
            { width: node.measured?.width ?? NODE_WIDTH, height: node.measured?.height ?? NODE_HEIGHT },
          ]),
      );
    const middle = () => {
      const { transform, width, height } = store.getState();
      const [x, y, zoom] = transform;
      return { x: (width / 2 - x) / zoom - NODE_WIDTH / 2, y: (height / 2 - y) / zoom - NODE_HEIGHT / 2 };
    };
    return {
      sizes,
      middle,
      free: (definition) => {
        const { transform, width, height } = store.getState();
        const zoom = transform[2];
        const reach = {
          x: Math.max(0, width / 2 - MARGIN.x) / zoom - NODE_WIDTH / 2,
          y: Math.max(0, height / 2 - MARGIN.y) / zoom - NODE_HEIGHT / 2,
        };
        const { cards, all } = obstaclesOf(geometryOf(definition, sizes()));
        const place = (boxes: typeof all) => nearestFreePlace(boxes, middle(), reach);
        return place(all) ?? place(cards) ?? freePlace(definition, middle());
      },
      fit: (definition, duration) => {
        const graph = extentOf(geometryOf(definition, sizes()));
        const parts = [...(graph === null ? [] : [graph]), ...notesOf(definition).map(noteBox)];
        const extent = parts.length === 0 ? null : union(parts);
        const { width, height, minZoom } = store.getState();
        if (extent === null || width === 0) return;
        const { left: x, top: y, right, bottom } = extent;
        const bounds = { x, y, width: right - x, height: bottom - y };
        void flow.setViewport(getViewportForBounds(bounds, width, height, minZoom, 1, FIT_PADDING), { duration });
      },
    };
  }, [flow, store]);
}

function noteBox({ position: { x, y }, width, height }: Note): Box {
  return { left: x, top: y, right: x + width, bottom: y + height };
}

/** What floats over the canvas on either side, in pixels: no new step is put below it. */
const MARGIN = { x: 84, y: 68 };
