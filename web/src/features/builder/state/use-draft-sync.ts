/** Keeps the document of the editor and the stored draft in step, and says when two people have changed it. */

import { useQueryClient } from "@tanstack/react-query";
import { type Dispatch, useCallback, useEffect, useRef, useState } from "react";
import { isEqual } from "../../../graph/definition";
import { Autosave, Conflict, type Saving } from "../../../graph/editing/autosave";
import { withMinted } from "../../../graph/editing/edit";
import type { Agent } from "../../../lib/api/types";
import { fetchAgent } from "../../../lib/organization/agent";
import { type Document, documentOf, saveDocument } from "../api";
import type { EditorAction, EditorState } from "./editor-state";
import { isPassing } from "./saving-problem";

interface DraftSync {
  saving: Saving;
  /** Resolves with the stored revision when everything is saved. */
  flush: () => Promise<number>;
  /** Takes what is stored. */
  reload: () => Promise<void>;
  /** Stores what is here. */
  keepMine: () => Promise<void>;
}

export function useDraftSync(
  agent: Agent,
  canEdit: boolean,
  state: EditorState,
  dispatch: Dispatch<EditorAction>,
): DraftSync {
  const { saver, saved, saving, flush } = useSaver(agent, dispatch);
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
    [saver, saved, dispatch],
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
  }, [agent.id, saver, dispatch]);
  return { saving, flush, reload, keepMine };
}

/** The autosave of one agent, for as long as its page is open. */
function useSaver(agent: Agent, dispatch: Dispatch<EditorAction>) {
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
