/** One agent while it is edited: its document with history, what is chosen, and how far it is saved. */

import { useQueryClient } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useEffect, useMemo, useReducer, useRef, useState } from "react";
import { Autosave, Conflict, type Saving } from "../../../graph/editing/autosave";
import { isEqual } from "../../../graph/definition";
import { withMinted } from "../../../graph/editing/edit";
import { type ValidationIssues, groupIssues } from "../../../graph/validation-issues";
import type { NodeSpec } from "../../../graph/specs";
import type { Agent } from "../../../lib/api/types";
import { isPassing } from "./saving-problem";
import { type Document, documentOf, fetchAgent, saveDocument, useValidation } from "../api";
import { type EditorState, type Selection, opened, reduce } from "./editor-state";

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
  const { saver, saved, saving, flush } = useSaver(agent, dispatch);
  const validation = useValidation(agent.id);
  const found = useMemo(
    () => groupIssues(validation.data?.errors ?? [], validation.data?.warnings ?? []),
    [validation.data],
  );

  const document = state.history.present;
  const stored = useRef(document);
  useEffect(() => {
    if (state.isStored) stored.current = document;
    else if (canEdit && document !== stored.current) {
      stored.current = document;
      saver.edit(document);
    }
  }, [document, state.isStored, canEdit, saver]);

  const take = useCallback(
    (fresh: Agent) => {
      const isUndoable = saver.isDirty;
      saver.adopt(fresh.revision);
      saved.current = documentOf(fresh);
      dispatch({ type: "replaced", document: documentOf(fresh), isUndoable });
    },
    [saver, saved],
  );
  // Somebody else's change arrives with a refetch: it is taken over, or is a conflict with what waits here.
  useEffect(() => {
    if (agent.revision <= saver.lastRevision) return;
    if (isEqual(documentOf(agent), saved.current)) saver.rebase(agent.revision);
    else if (saver.isDirty) saver.foreign(agent.revision);
    else take(agent);
  }, [agent, saver, saved, take]);

  const queries = useQueryClient();
  const reload = useCallback(async () => {
    const fresh = await fetchAgent(agent.id);
    take(fresh);
    queries.setQueryData(["agent", agent.id], fresh);
    await queries.invalidateQueries({ queryKey: ["agent", agent.id, "validation"] });
  }, [agent.id, queries, take]);
  const keepMine = useCallback(async () => {
    const theirs = await fetchAgent(agent.id);
    await saver.keepMine(theirs.revision);
    dispatch({ type: "overwrote", document: documentOf(theirs) });
  }, [agent.id, saver]);

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

/** The autosave of one agent, for as long as its page is open. */
function useSaver(
  agent: Agent,
  dispatch: (action: { type: "minted"; apply: (document: Document) => Document }) => void,
) {
  const queries = useQueryClient();
  const [saving, setSaving] = useState<Saving>({ name: "saved" });
  const saved = useRef<Document>(documentOf(agent));
  const [saver] = useState(
    () =>
      new Autosave<Document>({
        revision: agent.revision,
        onState: setSaving,
        isPassing,
        send: async (document, revision) => {
          const answer = await saveOver(agent.id, document, revision, saved.current);
          saved.current = documentOf(answer);
          const { definition } = saved.current;
          dispatch({ type: "minted", apply: (mine) => minted(mine, definition) });
          queries.setQueryData(["agent", agent.id], answer);
          void queries.invalidateQueries({ queryKey: ["agent", agent.id, "validation"] });
          return answer.revision;
        },
      }),
  );
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (saver.isDirty) event.preventDefault();
    };
    const hide = () => void saver.flush().catch(() => undefined);
    window.addEventListener("beforeunload", leave);
    window.addEventListener("visibilitychange", hide);
    return () => {
      window.removeEventListener("beforeunload", leave);
      window.removeEventListener("visibilitychange", hide);
      hide();
    };
  }, [saver]);
  const flush = useCallback(async () => {
    await saver.flush();
    return saver.lastRevision;
  }, [saver]);
  return { saver, saved, saving, flush };
}

/** A new name or a publication raises the revision too: only another content is a conflict. */
async function saveOver(id: number, document: Document, revision: number, known: Document): Promise<Agent> {
  try {
    return await saveDocument(id, document, revision);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const fresh = await fetchAgent(id);
    if (!isEqual(documentOf(fresh), known)) throw error;
    return saveDocument(id, document, fresh.revision);
  }
}

function minted(mine: Document, definition: Document["definition"]): Document {
  const next = withMinted(mine.definition, definition);
  return next === mine.definition ? mine : { ...mine, definition: next };
}
