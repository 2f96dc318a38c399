/** What the canvas draws of the graph, and the moves of steps that it hands back. */

import { type EdgeChange, type NodeChange, applyEdgeChanges, applyNodeChanges } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Definition } from "../../../graph/definition";
import { moveNodes } from "../../../graph/editing/edit";
import { placeNotes } from "../../../graph/editing/notes";
import type { Sizes } from "../../../graph/layout/layout";
import { type Geometry, type Route, geometryOf, routeEdges } from "../../../graph/layout/routes";
import { useEditorContext } from "../state/editor";
import type { CanvasEdge } from "./edge-line";
import { type CanvasItem, flowEdges, flowItems } from "./flow-items";

export function useDrawnGraph() {
  const { document, selection, specs, canEdit, change } = useEditorContext();
  const { definition } = document;
  const [nodes, setNodes] = useState<CanvasItem[]>(() => flowItems([], definition, selection, specs, canEdit));
  const [sizes, setSizes] = useState<Sizes>(new Map());
  const routes = useRoutes(definition, sizes);
  const [edges, setEdges] = useState<CanvasEdge[]>(() => flowEdges([], definition, selection, routes));
  useEffect(() => {
    setNodes((before) => flowItems(before, definition, selection, specs, canEdit));
    setEdges((before) => flowEdges(before, definition, selection, routes));
  }, [definition, selection, specs, canEdit, routes]);
  const changeNodes = useCallback(
    (changes: NodeChange<CanvasItem>[]) => {
      setNodes((before) => applyNodeChanges(changes, before));
      setSizes((before) => withMeasured(before, changes));
      const places = new Map(
        changes.flatMap((item) =>
          item.type === "position" && item.dragging === false && item.position
            ? [[item.id, item.position] as const]
            : [],
        ),
      );
      if (places.size === 0) return;
      const notes = new Map([...places].map(([id, position]) => [id, { position }]));
      change((doc) => ({ ...doc, definition: placeNotes(moveNodes(doc.definition, places), notes) }), "move");
    },
    [change],
  );
  const changeEdges = useCallback(
    (changes: EdgeChange<CanvasEdge>[]) => setEdges((before) => applyEdgeChanges(changes, before)),
    [],
  );
  return { nodes, edges, changeNodes, changeEdges };
}

/** The routes of all edges, found again only when steps, edges or labels change. */
function useRoutes(definition: Definition, sizes: Sizes): ReadonlyMap<string, Route> {
  const geometry = JSON.stringify(geometryOf(definition, sizes));
  return useMemo(() => routeEdges(JSON.parse(geometry) as Geometry), [geometry]);
}

/** `before` where the library has measured nothing new. */
function withMeasured(before: Sizes, changes: NodeChange<CanvasItem>[]): Sizes {
  const measured = changes.flatMap((item) =>
    item.type === "dimensions" && item.dimensions !== undefined ? [[item.id, item.dimensions] as const] : [],
  );
  const isNew = measured.some(([id, size]) => before.get(id)?.height !== size.height);
  return isNew ? new Map([...before, ...measured]) : before;
}
