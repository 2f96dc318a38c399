/** What is open in the editor, as a pure function of what was done. */

import { type History, begin, change, everywhere, redo, undo } from "../../graph/history";
import type { Document } from "./api";

export interface Selection {
  stepIds: readonly string[];
  wayIds: readonly string[];
}

export const NOTHING_CHOSEN: Selection = { stepIds: [], wayIds: [] };

export interface EditorState {
  history: History<Document>;
  selection: Selection;
  revealed: { ids: string[] } | null;
  /** The present document is the server's: there is nothing to save. */
  isStored: boolean;
}

export type EditorAction =
  | { type: "changed"; next: (document: Document) => Document; tag: string; at: number }
  | { type: "undone" }
  | { type: "redone" }
  | { type: "selected"; selection: Selection }
  | { type: "revealed"; selection: Selection }
  | { type: "replaced"; document: Document }
  | { type: "minted"; apply: (document: Document) => Document };

export function opened(document: Document): EditorState {
  return { history: begin(document), selection: NOTHING_CHOSEN, revealed: null, isStored: true };
}

export function reduce(state: EditorState, action: EditorAction): EditorState {
  switch (action.type) {
    case "changed":
      return moved(state, change(state.history, action.next(state.history.present), action.tag, action.at));
    case "undone":
      return moved(state, undo(state.history));
    case "redone":
      return moved(state, redo(state.history));
    case "selected":
      return isSame(state.selection, action.selection) ? state : { ...state, selection: action.selection };
    case "revealed": {
      const { stepIds, wayIds } = action.selection;
      return { ...state, selection: action.selection, revealed: { ids: [...stepIds, ...wayIds] } };
    }
    case "replaced":
      return { ...opened(action.document), selection: kept(state.selection, action.document) };
    case "minted":
      return { ...state, history: everywhere(state.history, action.apply) };
  }
}

function moved(state: EditorState, history: History<Document>): EditorState {
  if (history === state.history) return state;
  return { ...state, history, isStored: false, selection: kept(state.selection, history.present) };
}

/** What is gone is no longer chosen. */
function kept(selection: Selection, { definition }: Document): Selection {
  const steps = new Set(definition.nodes.map((node) => node.id));
  const ways = new Set(definition.edges.map((edge) => edge.id));
  const next = { stepIds: selection.stepIds.filter((id) => steps.has(id)), wayIds: selection.wayIds.filter((id) => ways.has(id)) };
  return isSame(selection, next) ? selection : next;
}

function isSame(one: Selection, other: Selection): boolean {
  const equal = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((id) => b.includes(id));
  return equal(one.stepIds, other.stepIds) && equal(one.wayIds, other.wayIds);
}
