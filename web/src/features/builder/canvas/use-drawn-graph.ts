/** What the canvas draws of the graph, and the moves of steps that it hands back. */

import { type EdgeChange, type NodeChange, applyEdgeChanges, applyNodeChanges } from "@xyflow/react";
import { useCallback, useEffect, useState } from "react";
import { moveNodes } from "../../../graph/editing/edit";
import { useEditorContext } from "../state/editor";
import type { CanvasEdge } from "./edge-line";
import { flowEdges, flowNodes } from "./flow-items";
import type { CanvasNode } from "./node-card";

export function useDrawnGraph() {
  const { document, selection, specs, canEdit, change } = useEditorContext();
  const { definition } = document;
  const [nodes, setNodes] = useState<CanvasNode[]>(() => flowNodes([], definition, selection, specs, canEdit));
  const [edges, setEdges] = useState<CanvasEdge[]>(() => flowEdges([], definition, selection));
  useEffect(() => {
    setNodes((before) => flowNodes(before, definition, selection, specs, canEdit));
    setEdges((before) => flowEdges(before, definition, selection));
  }, [definition, selection, specs, canEdit]);
  const changeNodes = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      setNodes((before) => applyNodeChanges(changes, before));
      const places = new Map(
        changes.flatMap((item) =>
          item.type === "position" && item.dragging === false && item.position
            ? [[item.id, item.position] as const]
            : [],
        ),
      );
      if (places.size > 0) change((doc) => ({ ...doc, definition: moveNodes(doc.definition, places) }), "move");
    },
    [change],
  );
  const changeEdges = useCallback(
    (changes: EdgeChange<CanvasEdge>[]) => setEdges((before) => applyEdgeChanges(changes, before)),
    [],
  );
  return { nodes, edges, changeNodes, changeEdges };
}
