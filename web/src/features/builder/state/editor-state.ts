/** What is open in the editor, as a pure function of what was done. */

import { type History, startHistory, pushChange, mapHistory, redo, undo } from "../../../graph/editing/history";
import type { Definition } from "../../../graph/definition";
import { notesOf } from "../../../graph/editing/notes";
import type { Document } from "../api";

export interface Selection {
  /** Of steps and notes. */
  nodeIds: readonly string[];
  edgeIds: readonly string[];
}

export const NOTHING_CHOSEN: Selection = { nodeIds: [], edgeIds: [] };

/** Every step and every note. */
export function all(definition: Definition): Selection {
  return { nodeIds: [...definition.nodes, ...notesOf(definition)].map(({ id }) => id), edgeIds: [] };
}

export interface Revealed {
  ids: string[];
  /** The first of them gets the keyboard's focus. */
  isFocused: boolean;
}

export interface EditorState {
  history: History<Document>;
  selection: Selection;
  revealed: Revealed | null;
  /** The last wish to see the form of what is chosen; a new object each time. */
  form: { isFocused: boolean } | null;
  /** The present document is the server's: there is nothing to save. */
  isStored: boolean;
}

export type EditorAction =
  | { type: "changed"; next: (document: Document) => Document; tag: string; at: number }
  | { type: "undone" }
  | { type: "redone" }
  | { type: "selected"; selection: Selection }
  | { type: "revealed"; selection: Selection; goesTo: "node" | "form" | null }
  | { type: "asked"; isFocused: boolean }
  | { type: "replaced"; document: Document; isUndoable: boolean }
  | { type: "overwrote"; document: Document }
  | { type: "minted"; apply: (document: Document) => Document };

export function opened(document: Document): EditorState {
  return { history: startHistory(document), selection: NOTHING_CHOSEN, revealed: null, form: null, isStored: true };
}

export function reduce(state: EditorState, action: EditorAction): EditorState {
  switch (action.type) {
    case "changed":
      return moved(state, pushChange(state.history, action.next(state.history.present), action.tag, action.at));
    case "undone":
      return moved(state, undo(state.history));
    case "redone":
      return moved(state, redo(state.history));
    case "selected":
      return isSame(state.selection, action.selection) ? state : { ...state, selection: action.selection };
    case "revealed": {
      const { nodeIds, edgeIds } = action.selection;
      const revealed = { ids: [...nodeIds, ...edgeIds], isFocused: action.goesTo === "node" };
      return {
        ...state,
        selection: action.selection,
        revealed,
        form: action.goesTo === "form" ? { isFocused: true } : state.form,
      };
    }
    case "asked":
      return { ...state, form: { isFocused: action.isFocused } };
    case "replaced": {
      const fresh = startHistory(action.document);
      const history = action.isUndoable ? { ...fresh, past: [state.history.present] } : fresh;
      return { ...state, history, isStored: true, selection: kept(state.selection, action.document) };
    }
    case "overwrote":
      return { ...state, history: { ...state.history, past: [...state.history.past, action.document], last: null } };
    case "minted":
      return { ...state, history: mapHistory(state.history, action.apply) };
  }
}

function moved(state: EditorState, history: History<Document>): EditorState {
  if (history === state.history) return state;
  return { ...state, history, isStored: false, selection: kept(state.selection, history.present) };
}

/** What is gone is no longer chosen. */
function kept(selection: Selection, { definition }: Document): Selection {
  const nodes = new Set(all(definition).nodeIds);
  const edges = new Set(definition.edges.map((edge) => edge.id));
  const next = {
    nodeIds: selection.nodeIds.filter((id) => nodes.has(id)),
    edgeIds: selection.edgeIds.filter((id) => edges.has(id)),
  };
  return isSame(selection, next) ? selection : next;
}

function isSame(one: Selection, other: Selection): boolean {
  const equal = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((id) => b.includes(id));
  return equal(one.nodeIds, other.nodeIds) && equal(one.edgeIds, other.edgeIds);
}
