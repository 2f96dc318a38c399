/** An agent's graph as a map, with what happens at one node below it; the live node of a call is lit. */

import { Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { type GraphEdge, type GraphNode, edgesOf, kindName, nodesOf } from "./graph";
import classes from "./flow_panel.module.css";
import { NODE_HEIGHT, NODE_WIDTH, layout } from "./layout";

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
  return (
    <div className={classes.scroll} role="group" aria-label="Steps of the conversation">
      <div className={classes.map} style={{ width: map.width, height: map.height }}>
        <svg className={classes.wires} width={map.width} height={map.height} aria-hidden="true">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
              <path d="M0 0.8 7 4 0 7.2z" className={classes.arrow} />
            </marker>
          </defs>
          {map.wires.map((wire) => (
            <path
              key={wire.edge.id}
              d={wire.path}
              className={classes.wire}
              data-shown={wire.edge.source === shownId || undefined}
              markerEnd="url(#arrow)"
            />
          ))}
        </svg>
        {map.wires.map((wire) => (
          <span key={wire.edge.id} className={classes.label} style={{ left: wire.labelX, top: wire.labelY }} title={wire.edge.condition}>
            {wire.edge.label}
          </span>
        ))}
        {map.placed.map(({ node, x, y }) => (
          <button
            key={node.id}
            type="button"
            className={classes.node}
            data-kind={node.kind}
            data-live={node.id === liveNodeId || undefined}
            data-shown={node.id === shownId || undefined}
            aria-pressed={node.id === shownId}
            style={{ left: x, top: y, width: NODE_WIDTH, height: NODE_HEIGHT }}
            onClick={() => onChoose(node.id)}
          >
            <span className={classes.name}>{node.name}</span>
            <span className={classes.kind}>{node.id === liveNodeId ? "Now here" : kindName(node.kind)}</span>
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
