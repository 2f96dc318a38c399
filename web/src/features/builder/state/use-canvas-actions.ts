/** What can be done to the graph, from wherever: canvas, palette, forms, keys. */

import { useMemo } from "react";
import { clipOf, serializeNodes, paste } from "../../../graph/editing/clipboard";
import { type Definition, type Point, edgeLabel, nodeName } from "../../../graph/definition";
import { addNode, connect, moveNodes, reconnect, remove, splice } from "../../../graph/editing/edit";
import { MAX_NOTES, addNote, followSteps, notesOf } from "../../../graph/editing/notes";
import { GAP_Y, NODE_HEIGHT, freePlace } from "../../../graph/places";
import { canAdd, canConnect, createNode, mayEnter, mayLeave } from "../../../graph/specs";
import { notifyInfo } from "../../../lib/ui/notifications";
import { useEditorContext } from "./editor";
import { useView } from "./use-view";

export interface CanvasActions {
  /** Adds a step, near the middle of the view without a place; `from` is joined to it. */
  add: (kind: string, at?: Point, from?: string) => void;
  /** Adds a step within an edge, if its kind can be both left and entered, else like `add`. */
  insert: (kind: string, edgeId: string, at?: Point) => void;
  /** Adds a step below another one and joins it to that. */
  addAfter: (kind: string, from: string) => void;
  /** Adds a note, by default in the middle of the view, and opens its form. */
  addNote: (at?: Point) => void;
  connect: (source: string, target: string) => void;
  /** Leads an edge elsewhere. */
  reconnect: (edgeId: string, source: string, target: string) => void;
  remove: (nodeIds: readonly string[], edgeIds: readonly string[]) => void;
  copy: () => string;
  paste: (words: string) => boolean;
  duplicate: (nodeIds: readonly string[]) => void;
  arrange: () => Promise<void>;
  showAll: () => void;
}

export function useCanvasActions(): CanvasActions {
  const editor = useEditorContext();
  const view = useView();
  return useMemo(() => {
    const { document, selection, specs, change, select, reveal } = editor;
    const { definition } = document;
    const add: CanvasActions["add"] = (kind, at, from) => {
      const spec = specs.get(kind);
      if (spec === undefined || !canAdd(spec, definition)) return;
      const node = createNode(spec, definition, freePlace(definition, at ?? view.middle()));
      const added = addNode(definition, node);
      const isJoined = from !== undefined && canConnect(specs, added, from, node.id);
      const next = isJoined ? connect(added, from, node.id).definition : added;
      change((doc) => ({ ...doc, definition: next }));
      reveal({ nodeIds: [node.id], edgeIds: [] }, "node");
    };
    const place = (words: string) => {
      const clip = clipOf(words);
      if (clip === null) return false;
      const pasted = paste(definition, clip, view.middle(), specs);
      change((doc) => ({ ...doc, definition: pasted.definition }));
      reveal({ nodeIds: pasted.nodeIds, edgeIds: [] }, "node");
      return true;
    };
    return {
      add,
      addAfter: (kind, from) => {
        const position = definition.nodes.find((node) => node.id === from)?.position;
        add(kind, position && { x: position.x, y: position.y + NODE_HEIGHT + GAP_Y }, from);
      },
      insert: (kind, edgeId, at) => {
        const spec = specs.get(kind);
        if (spec === undefined || !canAdd(spec, definition)) return;
        if (!mayEnter(spec) || !mayLeave(spec)) {
          add(kind, at);
          return;
        }
        const node = createNode(spec, definition, at ?? view.middle());
        change((doc) => ({ ...doc, definition: splice(doc.definition, edgeId, node) }));
        reveal({ nodeIds: [node.id], edgeIds: [] }, "node");
      },
      addNote: (at) => {
        if (notesOf(definition).length >= MAX_NOTES) {
          notifyInfo(`An agent can have up to ${MAX_NOTES} notes. Remove one first.`);
          return;
        }
        const added = addNote(definition, at ?? view.free(definition));
        change((doc) => ({ ...doc, definition: added.definition }));
        reveal({ nodeIds: [added.note.id], edgeIds: [] }, "form");
      },
      connect: (source, target) => {
        if (!canConnect(specs, definition, source, target)) return;
        const joined = connect(definition, source, target);
        change((doc) => ({ ...doc, definition: joined.definition }));
        select({ nodeIds: [], edgeIds: [joined.edge.id] });
        sayIfSecond(definition, source, target);
      },
      reconnect: (edgeId, source, target) => {
        change((doc) => ({ ...doc, definition: reconnect(doc.definition, edgeId, source, target) }));
        sayIfSecond(remove(definition, [], [edgeId]), source, target);
      },
      remove: (nodeIds, edgeIds) => change((doc) => ({ ...doc, definition: remove(doc.definition, nodeIds, edgeIds) })),
      copy: () => serializeNodes(definition, selection.nodeIds),
      paste: place,
      duplicate: (nodeIds) => void place(serializeNodes(definition, nodeIds)),
      showAll: () => view.fit(definition, 250),
      arrange: async () => {
        const { arrangeNodes: arranged } = await import("../../../graph/layout/layout");
        const places = arranged(definition, view.sizes());
        const moved = (graph: Definition) => moveNodes(followSteps(graph, places), places);
        change((doc) => ({ ...doc, definition: moved(doc.definition) }));
        requestAnimationFrame(() => view.fit(moved(definition), 300));
      },
    };
  }, [editor, view]);
}

/** Two transitions between the same steps are right only where each has a condition of its own: said, because it looks like one line. */
function sayIfSecond(before: Definition, source: string, target: string): void {
  const first = before.edges.find((edge) => edge.source === source && edge.target === target);
  const goal = before.nodes.find((node) => node.id === target);
  if (first === undefined || goal === undefined) return;
  notifyInfo(
    `“${edgeLabel(first) || "A transition"}” already leads to ${nodeName(goal)}. Give each a condition of its own, or remove one.`,
  );
}
