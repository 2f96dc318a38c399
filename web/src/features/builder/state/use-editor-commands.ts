/** The editor's part of the command palette. */

import { useMemo } from "react";
import { nodeName } from "../../../graph/definition";
import { canAdd } from "../../../graph/specs";
import { type Command, useCommands } from "../../../lib/commands/commands";
import { useEditorContext } from "./editor";
import type { CanvasActions } from "./use-canvas-actions";

export function useEditorCommands(actions: CanvasActions, onHelp: () => void): void {
  const editor = useEditorContext();
  const commands = useMemo((): Command[] => {
    const { canEdit, canUndo, canRedo, document, specs } = editor;
    const canvas = (title: string, run: () => void, keys?: string, isThere = true): Command[] =>
      isThere ? [{ id: `canvas ${title}`, title, group: "Canvas", run, ...(keys === undefined ? {} : { keys }) }] : [];
    return [
      ...canvas("Undo", editor.undo, "Ctrl Z", canUndo),
      ...canvas("Redo", editor.redo, "Ctrl Shift Z", canRedo),
      ...canvas("Add note", () => actions.addNote(), "Shift N", canEdit),
      ...canvas("Arrange all steps", () => void actions.arrange(), "Shift L", canEdit),
      ...canvas("Show all steps", actions.showAll),
      ...canvas("Save now", () => void editor.flush().catch(() => undefined), "Ctrl S", canEdit),
      ...canvas("Keyboard shortcuts", onHelp, "?"),
      ...(canEdit ? [...specs.values()] : [])
        .filter((spec) => canAdd(spec, document.definition))
        .map((spec): Command => ({
          id: `add ${spec.name}`,
          title: `Add step: ${spec.display_name}`,
          group: "Canvas",
          keywords: "new insert",
          run: () => actions.add(spec.name),
        })),
      ...document.definition.nodes.map((node): Command => ({
        id: `step ${node.id}`,
        title: nodeName(node),
        group: "Steps",
        run: () => editor.reveal({ nodeIds: [node.id], edgeIds: [] }, "form"),
      })),
    ];
  }, [editor, actions, onHelp]);
  useCommands(commands);
}
