/** Turns the document into what the canvas draws, and keeps every object that did not change, so that little is drawn again. */

import { MarkerType } from "@xyflow/react";
import { type Definition, nodeName, edgeLabel } from "../../../graph/definition";
import { type Route, labelRows } from "../../../graph/layout/routes";
import type { NodeSpec } from "../../../graph/specs";
import type { Selection } from "../state/editor-state";
import { notesOf } from "../../../graph/editing/notes";
import type { CanvasNote } from "../notes/note-card";
import type { CanvasNode } from "./node-card";
import type { CanvasEdge } from "./edge-line";

export type CanvasItem = CanvasNode | CanvasNote;

/** Lists notes before steps, so that they lie behind them. */
export function flowItems(
  before: CanvasItem[],
  definition: Definition,
  selection: Selection,
  specs: ReadonlyMap<string, NodeSpec>,
  canEdit: boolean,
): CanvasItem[] {
  const steps = before.filter((item) => item.type === "node");
  const notes = before.filter((item) => item.type === "note");
  return kept(before, [
    ...flowNotes(notes, definition, selection, canEdit),
    ...flowNodes(steps, definition, selection, specs, canEdit),
  ]);
}

/** A style instead of the library's own order, which would lift a selected note above the steps that lie on it. */
const BEHIND = { zIndex: -1 };

function flowNotes(
  before: readonly CanvasNote[],
  definition: Definition,
  selection: Selection,
  canEdit: boolean,
): CanvasNote[] {
  const known = new Map(before.map((item) => [item.id, item]));
  const chosen = new Set(selection.nodeIds);
  return notesOf(definition).map((note): CanvasNote => {
    const old = known.get(note.id);
    const selected = chosen.has(note.id);
    if (old?.data.note === note && old.data.canEdit === canEdit && old.selected === selected) return old;
    const { width, height } = note;
    return {
      ...old,
      id: note.id,
      type: "note",
      position: old?.dragging === true ? old.position : note.position,
      width,
      height,
      measured: { width, height },
      style: BEHIND,
      data: { note, canEdit },
      selected,
      ariaLabel: note.text === "" ? "Note, empty" : `Note, ${note.text}`,
    };
  });
}

export function flowNodes(
  before: CanvasNode[],
  definition: Definition,
  selection: Selection,
  specs: ReadonlyMap<string, NodeSpec>,
  canEdit: boolean,
): CanvasNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const chosen = new Set(selection.nodeIds);
  const next = definition.nodes.map((node): CanvasNode => {
    const old = known.get(node.id);
    const selected = chosen.has(node.id);
    const data =
      old !== undefined && old.data.node === node && old.data.canEdit === canEdit
        ? old.data
        : { node, spec: specs.get(node.type), canEdit };
    // A step that is being dragged is ahead of the document, which learns its place when it is let go.
    const isPlace =
      old?.dragging === true || (old?.position.x === node.position.x && old.position.y === node.position.y);
    if (old !== undefined && old.data === data && isPlace && old.selected === selected) return old;
    return {
      ...old,
      id: node.id,
      type: "node",
      position: isPlace ? old.position : node.position,
      data,
      selected,
      ariaLabel: labelOf(node.data["name"], specs.get(node.type)),
    };
  });
  return kept(before, next);
}

/** `before` where `next` holds the same objects: a list that is another one is worked through as a whole. */
function kept<Item>(before: Item[], next: Item[]): Item[] {
  return next.length === before.length && next.every((item, index) => item === before[index]) ? before : next;
}

function labelOf(name: unknown, spec: NodeSpec | undefined): string {
  return `${typeof name === "string" && name !== "" ? name : "Unnamed"}, ${spec?.display_name ?? "unknown type"}`;
}

const ARROW = { type: MarkerType.ArrowClosed, width: 16, height: 16, color: "var(--arrow)" };

export function flowEdges(
  before: CanvasEdge[],
  definition: Definition,
  selection: Selection,
  routes: ReadonlyMap<string, Route>,
): CanvasEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const chosen = new Set(selection.edgeIds);
  const names = new Map(definition.nodes.map((node) => [node.id, nodeName(node)]));
  const drawnEdges = definition.edges.filter((edge) => names.has(edge.source) && names.has(edge.target));
  const rows = labelRows(drawnEdges);
  const next = drawnEdges.map((edge): CanvasEdge => {
    const old = known.get(edge.id);
    const selected = chosen.has(edge.id);
    const row = rows.get(edge.id) ?? 0;
    const drawn = old?.data;
    const route = keptRoute(drawn?.route, routes.get(edge.id));
    if (drawn?.edge === edge && drawn.row === row && drawn.route === route && old?.selected === selected) return old;
    const ariaLabel = `Transition ${edgeLabel(edge)} from ${names.get(edge.source) ?? ""} to ${names.get(edge.target) ?? ""}`;
    return {
      ...old,
      id: edge.id,
      type: "edge",
      source: edge.source,
      target: edge.target,
      data: { edge, row, route },
      selected,
      markerEnd: ARROW,
      ariaLabel,
    };
  });
  return kept(before, next);
}

/** The object that is drawn already where the route is the same. */
function keptRoute(before: Route | undefined, next: Route | undefined): Route | undefined {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(next) ? before : next;
}
