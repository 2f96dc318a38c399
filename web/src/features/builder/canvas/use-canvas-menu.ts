/** What a right click, or the menu key, opens the canvas menu for. */

import { useReactFlow } from "@xyflow/react";
import { type MouseEvent as ReactMouseEvent, useMemo, useState } from "react";
import { centered } from "../../../graph/places";
import { useEditorContext } from "../state/editor";
import type { MenuPlace, MenuSubject } from "./canvas-menu";
import type { CanvasEdge } from "./edge-line";
import type { CanvasItem } from "./flow-items";

export function useCanvasMenu() {
  const [place, setPlace] = useState<MenuPlace | null>(null);
  const flow = useReactFlow<CanvasItem, CanvasEdge>();
  const { select } = useEditorContext();
  const handlers = useMemo(() => {
    const open = (event: MouseEvent | ReactMouseEvent, subject: MenuSubject) => {
      event.preventDefault();
      const position = centered(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
      setPlace({ x: event.clientX, y: event.clientY, position, subject });
    };
    return {
      onNodeContextMenu: (event: ReactMouseEvent, { id, type }: CanvasItem) => {
        select({ nodeIds: [id], edgeIds: [] });
        open(event, { kind: type, id });
      },
      onEdgeContextMenu: (event: ReactMouseEvent, { id }: CanvasEdge) => {
        select({ nodeIds: [], edgeIds: [id] });
        open(event, { kind: "edge", id });
      },
      onPaneContextMenu: (event: MouseEvent | ReactMouseEvent) => open(event, { kind: "pane" }),
    };
  }, [flow, select]);
  return { place, setPlace, handlers };
}
