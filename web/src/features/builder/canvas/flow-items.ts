/** Turns the document into what the canvas draws, and keeps every object that did not change, so that little is drawn again. */

import { MarkerType } from "@xyflow/react";
import { type Definition, stepName, wayLabel } from "../../../graph/definition";
import type { NodeSpec } from "../../../graph/specs";
import type { Selection } from "../state/editor-state";
import type { StepNode } from "./node-card";
import type { WayEdge } from "./edge-line";

export function flowNodes(
  before: StepNode[],
  definition: Definition,
  selection: Selection,
  specs: ReadonlyMap<string, NodeSpec>,
  canEdit: boolean,
): StepNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const chosen = new Set(selection.stepIds);
  const next = definition.nodes.map((step): StepNode => {
    const old = known.get(step.id);
    const selected = chosen.has(step.id);
    const data =
      old !== undefined && old.data.step === step && old.data.canEdit === canEdit
        ? old.data
        : { step, spec: specs.get(step.type), canEdit };
    // A step that is being dragged is ahead of the document, which learns its place when it is let go.
    const isPlace =
      old?.dragging === true || (old?.position.x === step.position.x && old.position.y === step.position.y);
    if (old !== undefined && old.data === data && isPlace && old.selected === selected) return old;
    return {
      ...old,
      id: step.id,
      type: "step",
      position: isPlace ? old.position : step.position,
      data,
      selected,
      ariaLabel: labelOf(step.data["name"], specs.get(step.type)),
    };
  });
  return kept(before, next);
}

/** `before` where `next` holds the same objects: a list that is another one is worked through as a whole. */
function kept<Item>(before: Item[], next: Item[]): Item[] {
  return next.length === before.length && next.every((item, index) => item === before[index]) ? before : next;
}

function labelOf(name: unknown, spec: NodeSpec | undefined): string {
  return `${typeof name === "string" && name !== "" ? name : "Unnamed"}, ${spec?.display_name ?? "unknown kind"}`;
}

const ARROW = { type: MarkerType.ArrowClosed, width: 16, height: 16, color: "var(--arrow)" };

export function flowEdges(before: WayEdge[], definition: Definition, selection: Selection): WayEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const chosen = new Set(selection.wayIds);
  const names = new Map(definition.nodes.map((node) => [node.id, stepName(node)]));
  const pairs = new Map<string, number>();
  const next = definition.edges
    .filter((way) => names.has(way.source) && names.has(way.target))
    .map((way): WayEdge => {
      const old = known.get(way.id);
      const selected = chosen.has(way.id);
      const pair = `${way.source} ${way.target}`;
      const row = pairs.get(pair) ?? 0;
      pairs.set(pair, row + 1);
      if (old?.data?.way === way && old.data.row === row && old.selected === selected) return old;
      const ariaLabel = `Way ${wayLabel(way)} from ${names.get(way.source) ?? ""} to ${names.get(way.target) ?? ""}`;
      return {
        ...old,
        id: way.id,
        type: "way",
        source: way.source,
        target: way.target,
        data: { way, row },
        selected,
        markerEnd: ARROW,
        ariaLabel,
      };
    });
  return kept(before, next);
}
