/** The graph to look at and to change with mouse, touch and keyboard. */

import "@xyflow/react/dist/base.css";
import {
  type Connection,
  ConnectionMode,
  MiniMap,
  type OnConnectEnd,
  type OnSelectionChangeParams,
  ReactFlow,
  type ReactFlowInstance,
  applyEdgeChanges,
  applyNodeChanges,
  useReactFlow,
  type EdgeChange,
  type NodeChange,
} from "@xyflow/react";
import { type DragEvent, type KeyboardEvent, memo, useCallback, useEffect, useRef, useState } from "react";
import { moveNodes, reconnect } from "../../../graph/editing/edit";
import { NODE_WIDTH } from "../../../graph/places";
import { canConnect } from "../../../graph/specs";
import classes from "./canvas.module.css";
import { CanvasTools } from "./canvas-tools";
import { READABLE, useIsFar, useLabels } from "./zoom-detail";
import { useEditorContext } from "../state/editor";
import { flowEdges, flowNodes } from "./flow-items";
import { CanvasBackground } from "./background";
import { LabelLayer } from "./label-layer";
import { KindMenu, type MenuPlace } from "./kind-menu";
import { NodeCard, type CanvasNode } from "./node-card";
import { Tour } from "../panels/tour";
import { useCanvasActions } from "../state/use-canvas-actions";
import { useReveal } from "./use-reveal";
import { EdgeLine, type CanvasEdge } from "./edge-line";

const NODE_TYPES = { node: NodeCard };
const EDGE_TYPES = { edge: EdgeLine };
const KEYS_OF_A_STEP = {
  "node.a11yDescription.default":
    "Press Enter to edit the step, Space to choose it, and then the arrow keys to move it or Delete to remove it.",
  "node.a11yDescription.keyboardDisabled": "Press Enter to read the step.",
};
/** The same objects at every rendering: what is new draws everything anew. */
const KEYS_TO_CHOOSE_MORE = ["Shift", "Meta", "Control"];
const PRO_OPTIONS = { hideAttribution: false };
export const KIND_MIME = "application/x-offhook-kind";
const Tools = memo(CanvasTools);
const MAP_SIZE = { width: 150, height: 104 };
/** From how many steps on a graph is too large to be drawn as a whole. */
const MANY = 80;

export function Canvas() {
  const editor = useEditorContext();
  const { document, selection, specs, canEdit, select, openForm } = editor;
  const { definition } = document;
  const flow = useReactFlow<CanvasNode, CanvasEdge>();
  const actions = useCanvasActions();
  const [nodes, setNodes] = useState<CanvasNode[]>(() => flowNodes([], definition, selection, specs, canEdit));
  const [edges, setEdges] = useState<CanvasEdge[]>(() => flowEdges([], definition, selection));
  const [menu, setMenu] = useState<MenuPlace | null>(null);

  useEffect(() => {
    setNodes((before) => flowNodes(before, definition, selection, specs, canEdit));
    setEdges((before) => flowEdges(before, definition, selection));
  }, [definition, selection, specs, canEdit]);
  useReveal();

  const { change } = editor;
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
  const choose = useCallback(
    ({ nodes, edges }: OnSelectionChangeParams) =>
      select({ nodeIds: nodes.map((node) => node.id), edgeIds: edges.map((edge) => edge.id) }),
    [select],
  );
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
        from: connection.fromNode.id,
        position: flow.screenToFlowPosition({ x: at.clientX, y: at.clientY }),
      });
    },
    [flow],
  );
  const drop = (event: DragEvent) => {
    const kind = event.dataTransfer.getData(KIND_MIME);
    if (kind === "" || !canEdit) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    actions.add(kind, { x: at.x - 118, y: at.y - 30 });
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
  // Every one of these that is another function than before would draw all steps and edges anew, at each move of one step.
  const join = useCallback(({ source, target }: Connection) => actions.connect(source, target), [actions]);
  const lead = useCallback(
    (edge: CanvasEdge, to: Connection) =>
      change((doc) => ({ ...doc, definition: reconnect(doc.definition, edge.id, to.source, to.target) })),
    [change],
  );
  const show = useCallback(() => openForm(false), [openForm]);
  const labels = useLabels();
  const isFar = useIsFar();
  const canvas = useRef<HTMLDivElement>(null);
  // What lies under the pointer among hundreds of steps and edges is not looked for while it moves all of them.
  const shield = useCallback(
    (event: { type: string } | null) => canvas.current?.toggleAttribute("data-panned", event?.type === "mousemove"),
    [],
  );
  const unshield = useCallback(() => canvas.current?.removeAttribute("data-panned"), []);

  return (
    <div
      ref={canvas}
      className={classes.canvas}
      data-far={isFar || undefined}
      data-tour="canvas"
      role="region"
      aria-label="Steps of the conversation"
      onKeyDown={press}
    >
      <LabelLayer value={labels}>
        <ReactFlow<CanvasNode, CanvasEdge>
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          onNodesChange={changeNodes}
          onEdgesChange={changeEdges}
          onSelectionChange={choose}
          onConnect={join}
          onConnectEnd={canEdit ? letGo : undefined}
          onReconnect={lead}
          isValidConnection={isAllowed}
          onNodeClick={show}
          onEdgeClick={show}
          onMove={shield}
          onMoveEnd={unshield}
          onDragOver={(event) => event.preventDefault()}
          onDrop={drop}
          connectionMode={ConnectionMode.Strict}
          nodesDraggable={canEdit}
          nodesConnectable={canEdit}
          edgesReconnectable={canEdit}
          // Edges are reached from their step's form: hundreds of them would stand before the first step in the order of Tab.
          edgesFocusable={false}
          // Removing is a shortcut of ours: a key that was let go after its modifier would keep the library from it for good.
          deleteKeyCode={null}
          ariaLabelConfig={KEYS_OF_A_STEP}
          multiSelectionKeyCode={KEYS_TO_CHOOSE_MORE}
          // Of a large graph only what is in sight, where that is a part: rows that come and go cost a pan its frames. The
          // search and the forms lead the keyboard to the rest.
          onlyRenderVisibleElements={definition.nodes.length > MANY && !isFar}
          minZoom={0.1}
          maxZoom={1.6}
          onInit={showAtFirst}
          proOptions={PRO_OPTIONS}
        >
          <CanvasBackground />
          <MiniMap
            style={MAP_SIZE}
            className={classes.minimap}
            pannable
            zoomable
            nodeColor={miniColour}
            nodeStrokeWidth={0}
            nodeBorderRadius={14}
            ariaLabel="Small map"
          />
          <Tools />
        </ReactFlow>
      </LabelLayer>
      {canEdit && <Tour />}
      <KindMenu
        place={menu}
        onClose={() => setMenu(null)}
        onChoose={(kind, place) => actions.add(kind, { x: place.position.x - 118, y: place.position.y }, place.from)}
      />
    </div>
  );
}

function showAtFirst(flow: ReactFlowInstance<CanvasNode, CanvasEdge>) {
  void flow.fitView({ padding: 0.14, maxZoom: 1 }).then(() => {
    if (flow.getZoom() >= READABLE) return;
    const start = flow.getNodes().find((node) => node.data.node.type === "startCall") ?? flow.getNodes()[0];
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

function miniColour(node: CanvasNode): string {
  return MINI[node.data.node.type] ?? "#7f93b8";
}
