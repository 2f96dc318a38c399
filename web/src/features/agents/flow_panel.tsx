/** An agent's graph as a map, with what happens at one node below it; the live node of a call is lit. */

import { Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useMemo, useRef, useState } from "react";
import { type GraphEdge, type GraphNode, edgesOf, kindName, nodesOf } from "./graph";
import classes from "./flow_panel.module.css";
import { NODE_HEIGHT, NODE_WIDTH, layout } from "./layout";

/** Below this scale names cannot be read: a wider map scrolls. */
const SMALLEST = 0.72;

interface FlowPanelProps {
  definition: unknown;
  liveNodeId: string | null;
}

export function FlowPanel({ definition, liveNodeId }: FlowPanelProps) {
  const nodes = useMemo(() => nodesOf(definition), [definition]);
  const edges = useMemo(() => edgesOf(definition), [definition]);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const shownId = liveNodeId ?? chosenId ?? nodes.find((node) => node.kind === "startCall")?.id ?? nodes[0]?.id ?? null;
  const shown = nodes.find((node) => node.id === shownId);

  if (nodes.length === 0) {
    return (
      <Text c="dimmed" fz="sm" p="lg">
        This agent has no steps yet.
      </Text>
    );
  }
  return (
    <div className={classes.panel}>
      <FlowMap nodes={nodes} edges={edges} shownId={shownId} liveNodeId={liveNodeId} onChoose={setChosenId} />
      {shown && <NodeDetail node={shown} nodes={nodes} edges={edges} isLive={shown.id === liveNodeId} />}
    </div>
  );
}

interface FlowMapProps {
  nodes: GraphNode[];
  edges: GraphEdge[];
  shownId: string | null;
  liveNodeId: string | null;
  onChoose: (id: string) => void;
}

function FlowMap({ nodes, edges, shownId, liveNodeId, onChoose }: FlowMapProps) {
  const map = useMemo(() => layout(nodes, edges), [nodes, edges]);
  const { ref, width } = useElementSize<HTMLDivElement>();
  const scale = width > 0 ? Math.min(1, Math.max(SMALLEST, width / map.width)) : 1;
  const live = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const box = live.current?.closest<HTMLElement>(`.${classes.scroll}`);
    if (box && live.current) reveal(box, live.current);
  }, [liveNodeId]);
  return (
    <div ref={ref} className={classes.scroll} role="group" aria-label="Steps of the conversation">
      <div className={classes.map} style={{ width: map.width, height: map.height, zoom: scale }}>
        <svg className={classes.wires} width={map.width} height={map.height} aria-hidden="true">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
              <path d="M0 0.8 7 4 0 7.2z" className={classes.arrow} />
            </marker>
          </defs>
          {map.wires
            .filter((wire) => wire.isMain || wire.source === shownId)
            .map((wire) => (
              <path
                key={wire.id}
                d={wire.path}
                className={classes.wire}
                data-shown={wire.source === shownId || undefined}
                data-side={!wire.isMain || undefined}
                markerEnd="url(#arrow)"
              />
            ))}
        </svg>
        {map.placed.map(({ node, x, y }) => (
          <button
            key={node.id}
            ref={node.id === liveNodeId ? live : undefined}
            type="button"
            className={classes.node}
            data-kind={node.kind}
            data-live={node.id === liveNodeId || undefined}
            data-shown={node.id === shownId || undefined}
            aria-pressed={node.id === shownId}
            title={kindName(node.kind)}
            style={{ left: x, top: y, width: NODE_WIDTH, height: NODE_HEIGHT }}
            onClick={() => onChoose(node.id)}
          >
            <span className={classes.name}>{node.name}</span>
          </button>
        ))}
      </div>
      {map.aside.length > 0 && (
        <div className={classes.aside}>
          {map.aside.map((node) => (
            <button key={node.id} type="button" className={classes.chip} aria-pressed={node.id === shownId} onClick={() => onChoose(node.id)}>
              {node.name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Scrolls the map, and nothing around it, until the step is in its middle. */
function reveal(box: HTMLElement, step: HTMLElement): void {
  const outer = box.getBoundingClientRect();
  const inner = step.getBoundingClientRect();
  box.scrollBy({
    top: inner.top - outer.top - (outer.height - inner.height) / 2,
    left: inner.left - outer.left - (outer.width - inner.width) / 2,
    behavior: "smooth",
  });
}

interface NodeDetailProps {
  node: GraphNode;
  nodes: GraphNode[];
  edges: GraphEdge[];
  isLive: boolean;
}

function NodeDetail({ node, nodes, edges, isLive }: NodeDetailProps) {
  const exits = edges.filter((edge) => edge.source === node.id);
  return (
    <div className={classes.detail}>
      <p className={classes.heading}>
        {node.name} <span>{isLive ? "now here" : kindName(node.kind).toLowerCase()}</span>
      </p>
      {node.summary !== "" && <p className={classes.summary}>{node.summary}</p>}
      {exits.length > 0 && (
        <ul className={classes.exits}>
          {exits.map((edge) => (
            <li key={edge.id}>
              <b>{edge.label}</b> → {nodes.find((other) => other.id === edge.target)?.name ?? "nowhere"}
              {edge.condition !== "" && <span>{edge.condition}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
