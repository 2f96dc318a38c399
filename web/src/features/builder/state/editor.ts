/** One agent while it is edited: its document with history, what is chosen, and how far it is saved. */

import { createContext, useContext, useMemo, useReducer } from "react";
import type { Saving } from "../../../graph/editing/autosave";
import { type ValidationIssues, groupIssues } from "../../../graph/validation-issues";
import type { NodeSpec } from "../../../graph/specs";
import type { Agent, Schema } from "../../../lib/api/types";
import { type Document, documentOf, useValidation } from "../api";
import { type EditorState, type Selection, opened, reduce } from "./editor-state";
import { useDraftSync } from "./use-draft-sync";

export interface Editor {
  agent: Agent;
  canEdit: boolean;
  specs: ReadonlyMap<string, NodeSpec>;
  document: Document;
  selection: Selection;
  /** The step or edge that the canvas should bring into view; a new object each time. */
  revealed: EditorState["revealed"];
  form: EditorState["form"];
  validationIssues: ValidationIssues;
  /** The issues have come. */
  isChecked: boolean;
  /** Which steps run without a vendor's model; null until that is known. */
  offline: readonly Schema<"OfflineStepResponse">[] | null;
  saving: Saving;
  canUndo: boolean;
  canRedo: boolean;
  /** `tag` joins changes to the same thing into one step of undo. */
  change: (next: (document: Document) => Document, tag?: string) => void;
  undo: () => void;
  redo: () => void;
  select: (selection: Selection) => void;
  /** Chooses and brings into view; the keyboard goes on at the step, or in its form. */
  reveal: (selection: Selection, goesTo?: "node" | "form") => void;
  /** Shows the form of what is chosen. */
  openForm: (isFocused: boolean) => void;
  /** Resolves with the stored revision when everything is saved. */
  flush: () => Promise<number>;
  /** Takes what is stored. Undo brings back what was here, where that was never saved. */
  reload: () => Promise<void>;
  /** Stores what is here. Undo brings back what was stored. */
  keepMine: () => Promise<void>;
}

const Context = createContext<Editor | null>(null);
export const EditorProvider = Context.Provider;

export function useEditorContext(): Editor {
  const editor = useContext(Context);
  if (editor === null) throw new Error("outside of an editor");
  return editor;
}

export function useEditor(agent: Agent, canEdit: boolean, specs: ReadonlyMap<string, NodeSpec>): Editor {
  const [state, dispatch] = useReducer(reduce, agent, (first): EditorState => opened(documentOf(first)));
  const validation = useValidation(agent.id);
  const found = useMemo(
    // findings of the graph's analysis do not keep it from being published, as warnings do not
    () =>
      groupIssues(validation.data?.errors ?? [], [
        ...(validation.data?.warnings ?? []),
        ...(validation.data?.findings ?? []),
      ]),
    [validation.data],
  );

  const document = state.history.present;
  const { saving, flush, reload, keepMine } = useDraftSync(agent, canEdit, state, dispatch);
  const actions = useMemo(
    () => ({
      change: (next: (before: Document) => Document, tag = "") =>
        dispatch({ type: "changed", next, tag, at: Date.now() }),
      undo: () => dispatch({ type: "undone" }),
      redo: () => dispatch({ type: "redone" }),
      select: (selection: Selection) => dispatch({ type: "selected", selection }),
      reveal: (selection: Selection, goesTo?: "node" | "form") =>
        dispatch({ type: "revealed", selection, goesTo: goesTo ?? null }),
      openForm: (isFocused: boolean) => dispatch({ type: "asked", isFocused }),
    }),
    [],
  );
  return useMemo(
    () => ({
      agent,
      canEdit,
      specs,
      document,
      selection: state.selection,
      revealed: state.revealed,
      form: state.form,
      validationIssues: found,
      isChecked: validation.data !== undefined,
      offline: validation.data?.offline ?? null,
      saving,
      canUndo: canEdit && state.history.past.length > 0,
      canRedo: canEdit && state.history.future.length > 0,
      flush,
      reload,
      keepMine,
      ...actions,
    }),
    [agent, canEdit, specs, document, state, found, validation.data, saving, flush, reload, keepMine, actions],
  );
}
