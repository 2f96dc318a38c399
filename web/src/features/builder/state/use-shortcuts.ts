/** The editor's keyboard shortcuts, which are off while the user types in a field. */

import { useHotkeys } from "@mantine/hooks";
import { useEffect } from "react";
import { useEditorContext } from "./editor";
import { all } from "./editor-state";
import type { CanvasActions } from "./use-canvas-actions";

export const SEARCH_ID = "builder-search";

export function useShortcuts(actions: CanvasActions, onHelp: () => void): void {
  const editor = useEditorContext();
  const { canEdit, document: content, selection, undo, redo, select } = editor;
  const edit = (action: () => void) => () => {
    if (canEdit) action();
  };
  const erase = edit(() => {
    if (window.document.querySelector("[aria-modal=true]") === null)
      actions.remove(selection.nodeIds, selection.edgeIds);
  });
  useHotkeys([
    ["Delete", erase],
    ["Backspace", erase],
    ["mod+Z", edit(undo)],
    ["mod+shift+Z", edit(redo)],
    ["mod+Y", edit(redo)],
    ["mod+S", () => void editor.flush().catch(() => undefined)],
    ["mod+F", () => window.document.getElementById(SEARCH_ID)?.focus()],
    ["mod+A", () => select(all(content.definition))],
    ["mod+D", edit(() => actions.duplicate(selection.nodeIds))],
    ["shift+N", edit(() => actions.addNote())],
    ["shift+L", edit(() => void actions.arrange())],
    ["shift+?", onHelp],
  ]);
  useEffect(() => {
    const copy = (event: ClipboardEvent) => {
      if (isWriting() || !window.getSelection()?.isCollapsed) return;
      const words = actions.copy();
      if (words === "") return;
      event.clipboardData?.setData("text/plain", words);
      event.preventDefault();
      if (event.type === "cut" && canEdit) actions.remove(editor.selection.nodeIds, editor.selection.edgeIds);
    };
    const paste = (event: ClipboardEvent) => {
      if (!canEdit || isWriting()) return;
      if (actions.paste(event.clipboardData?.getData("text/plain") ?? "")) event.preventDefault();
    };
    window.addEventListener("copy", copy);
    window.addEventListener("cut", copy);
    window.addEventListener("paste", paste);
    return () => {
      window.removeEventListener("copy", copy);
      window.removeEventListener("cut", copy);
      window.removeEventListener("paste", paste);
    };
  }, [actions, canEdit, editor.selection]);
}

function isWriting(): boolean {
  const element = window.document.activeElement;
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLElement && element.isContentEditable)
  );
}
