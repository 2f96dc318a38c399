/** Joining steps by lines: where one may lead, and what happens when it is let go. */

import { type Connection, type OnConnectEnd, useReactFlow } from "@xyflow/react";
import { useCallback } from "react";
import { centered } from "../../../graph/places";
import { canConnect } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { useCanvasActions } from "../state/use-canvas-actions";
import type { CanvasEdge } from "./edge-line";
import type { MenuPlace } from "./canvas-menu";
import type { CanvasNode } from "./node-card";

export function useConnections(setMenu: (place: MenuPlace) => void) {
  const { document, specs } = useEditorContext();
  const { definition } = document;
  const flow = useReactFlow<CanvasNode, CanvasEdge>();
  const actions = useCanvasActions();
  const isAllowed = useCallback(
    (connection: Connection | CanvasEdge) => canConnect(specs, definition, connection.source, connection.target),
    [specs, definition],
  );
  // A line that is let go over nothing asks for the step that it should lead to.
  const letGo = useCallback<OnConnectEnd>(
    (event, connection) => {
      if (connection.toNode !== null || connection.fromNode === null || connection.fromHandle.type !== "source") return;
      const at = "changedTouches" in event ? event.changedTouches[0] : event;
      if (at === undefined) return;
      setMenu({
        x: at.clientX,
        y: at.clientY,
        position: centered(flow.screenToFlowPosition({ x: at.clientX, y: at.clientY })),
        subject: { kind: "line", from: connection.fromNode.id },
      });
    },
    [flow, setMenu],
  );
  // A new function here would redraw all steps and edges at each move of one step.
  const join = useCallback(({ source, target }: Connection) => actions.connect(source, target), [actions]);
  const lead = useCallback(
    (edge: CanvasEdge, to: Connection) => actions.reconnect(edge.id, to.source, to.target),
    [actions],
  );
  return { isAllowed, letGo, join, lead };
}
