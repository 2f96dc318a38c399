/** The graph to look at and to change with mouse, touch and keyboard. */

import "@xyflow/react/dist/base.css";
import {
  ConnectionMode,
  MiniMap,
  type OnSelectionChangeParams,
  ReactFlow,
  type ReactFlowInstance,
  useReactFlow,
} from "@xyflow/react";
import { type DragEvent, type KeyboardEvent, memo, useCallback, useRef } from "react";
import type { Definition } from "../../../graph/definition";
import { FIT_PADDING, NODE_WIDTH } from "../../../graph/places";
import classes from "./canvas.module.css";
import { CanvasTools } from "./canvas-tools";
import { LABELS_FROM, useIsFar, useLabels } from "./zoom-detail";
import { useEditorContext } from "../state/editor";
import { CanvasBackground } from "./background";
import { edgeAt } from "./edge-at";
import { LabelLayer } from "./label-layer";
import { CanvasMenu } from "./canvas-menu";
import { EmptyCanvas } from "./empty-canvas";
import type { CanvasItem } from "./flow-items";
import { NodeCard } from "./node-card";
import { NoteCard } from "../notes/note-card";
import { Tour } from "../panels/tour";
import { useCanvasActions } from "../state/use-canvas-actions";
import { useView } from "../state/use-view";
import { useCanvasMenu } from "./use-canvas-menu";
import { useConnections } from "./use-connections";
import { useDrawnGraph } from "./use-drawn-graph";
import { useReveal } from "./use-reveal";
import { EdgeLine, type CanvasEdge } from "./edge-line";

const KEYS_OF_A_STEP = {
  "node.a11yDescription.default":
    "Press Enter to edit the step. Press Space to select it, then use the arrow keys to move it or Delete to remove it.",
  "node.a11yDescription.keyboardDisabled": "Press Enter to view the step.",
};
/** The same objects at every rendering: a new one would draw everything again. */
const FIXED = {
  nodeTypes: { node: NodeCard, note: NoteCard },
  edgeTypes: { edge: EdgeLine },
  connectionMode: ConnectionMode.Strict,
  // Edges are reached from their step's form: hundreds of them would stand before the first step in the order of Tab.
  edgesFocusable: false,
  // Removing is a shortcut of ours: a key that was let go after its modifier would keep the library from it for good.
  deleteKeyCode: null,
  ariaLabelConfig: KEYS_OF_A_STEP,
  multiSelectionKeyCode: ["Shift", "Meta", "Control"],
  minZoom: 0.1,
  maxZoom: 1.6,
  proOptions: { hideAttribution: false },
};
/** The palette's name for a note, next to the kinds of steps. */
export const NOTE_KIND = "note";
export const KIND_MIME = "application/x-offhook-kind";
const Tools = memo(CanvasTools);
const MAP_SIZE = { width: 150, height: 104 };
/** From how many steps on a graph is too large to be drawn as a whole. */
const MANY = 80;

export function Canvas() {
  const { document, canEdit, select, openForm } = useEditorContext();
  const { definition } = document;
  const flow = useReactFlow<CanvasItem, CanvasEdge>();
  const actions = useCanvasActions();
  const { place: menu, setPlace: setMenu, handlers: menuHandlers } = useCanvasMenu();

  const { nodes, edges, changeNodes, changeEdges } = useDrawnGraph();
  const { isAllowed, letGo, join, lead } = useConnections(setMenu);
  useReveal();

  const choose = useCallback(
    ({ nodes, edges }: OnSelectionChangeParams) =>
      select({ nodeIds: nodes.map((node) => node.id), edgeIds: edges.map((edge) => edge.id) }),
    [select],
  );
  const drop = (event: DragEvent) => {
    const kind = event.dataTransfer.getData(KIND_MIME);
    if (kind === "" || !canEdit) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const place = { x: at.x - NODE_WIDTH / 2, y: at.y - 30 };
    if (kind === NOTE_KIND) {
      actions.addNote(place);
      return;
    }
    const edge = edgeAt(event.clientX, event.clientY);
    if (edge === undefined) actions.add(kind, place);
    else actions.insert(kind, edge, place);
  };

  const press = (event: KeyboardEvent) => {
    const id =
      event.target instanceof HTMLElement && event.target.matches(".react-flow__node")
        ? event.target.dataset["id"]
        : undefined;
    if (event.key !== "Enter" || id === undefined) return;
    event.preventDefault();
    select({ nodeIds: [id], edgeIds: [] });
    openForm(true);
  };
  const show = useCallback(() => openForm(false), [openForm]);
  const showAtFirst = useFirstView(definition);
  const labels = useLabels();
  const isFar = useIsFar();
  const { canvas, shield, unshield } = usePanShield();

  return (
    <div
      ref={canvas}
      className={classes.canvas}
      data-far={isFar || undefined}
      data-tour="canvas"
      role="region"
      aria-label="Conversation steps"
      onKeyDown={press}
    >
      <LabelLayer value={labels}>
        <ReactFlow<CanvasItem, CanvasEdge>
          {...FIXED}
          nodes={nodes}
          edges={edges}
          onNodesChange={changeNodes}
          onEdgesChange={changeEdges}
          onSelectionChange={choose}
          onConnect={join}
          onConnectEnd={canEdit ? letGo : undefined}
          onReconnect={lead}
          isValidConnection={isAllowed}
          onNodeClick={show}
          onEdgeClick={show}
          {...menuHandlers}
          onMove={shield}
          onMoveEnd={unshield}
          onDragOver={(event) => event.preventDefault()}
          onDrop={drop}
          nodesDraggable={canEdit}
          nodesConnectable={canEdit}
          edgesReconnectable={canEdit}
          // Of a large graph only what is in sight, where that is a part: rows that come and go cost a pan its frames. The
          // search and the forms lead the keyboard to the rest.
          onlyRenderVisibleElements={definition.nodes.length > MANY && !isFar}
          onInit={showAtFirst}
        >
          <CanvasBackground />
          <MiniMap
            style={MAP_SIZE}
            className={classes.minimap}
            pannable
            zoomable
            nodeColor={miniColor}
            nodeStrokeWidth={0}
            nodeBorderRadius={14}
            ariaLabel="Minimap"
          />
          <Tools />
        </ReactFlow>
      </LabelLayer>
      {definition.nodes.length === 0 ? <EmptyCanvas /> : canEdit && <Tour />}
      <CanvasMenu place={menu} onClose={() => setMenu(null)} />
    </div>
  );
}

/** What lies under the pointer among hundreds of steps and edges is not looked for while it moves all of them. */
function usePanShield() {
  const canvas = useRef<HTMLDivElement>(null);
  const shield = useCallback(
    (event: { type: string } | null) => canvas.current?.toggleAttribute("data-panned", event?.type === "mousemove"),
    [],
  );
  const unshield = useCallback(() => canvas.current?.removeAttribute("data-panned"), []);
  return { canvas, shield, unshield };
}

/** Shows the whole graph once its cards are measured; of one that is too large to be read, its start. */
function useFirstView(definition: Definition) {
  const view = useView();
  return (flow: ReactFlowInstance<CanvasItem, CanvasEdge>) =>
    void flow.fitView({ padding: FIT_PADDING, maxZoom: 1 }).then(() => {
      if (flow.getZoom() >= LABELS_FROM) view.fit(definition, 0);
      if (flow.getZoom() >= LABELS_FROM) return;
      const start =
        flow.getNodes().find((node) => node.type === "node" && node.data.node.type === "startCall") ??
        flow.getNodes()[0];
      const box = window.document.querySelector(".react-flow")?.getBoundingClientRect();
      if (start === undefined || box === undefined) return;
      const zoom = 0.8;
      void flow.setViewport({
        x: box.width / 2 - (start.position.x + NODE_WIDTH / 2) * zoom,
        y: 90 - start.position.y * zoom,
        zoom,
      });
    });
}

const MINI: Record<string, string> = {
  startCall: "#0c8577",
  endCall: "#c2483f",
  globalNode: "#8259c7",
  trigger: "#b3680c",
};

function miniColor(node: CanvasItem): string {
  return node.type === "note" ? "#d9b64a" : (MINI[node.data.node.type] ?? "#7f93b8");
}
