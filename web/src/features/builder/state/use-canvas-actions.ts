/** What can be done to the graph, from wherever: canvas, palette, forms, keys. */

import { useReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { clipOf, copied, paste } from "../../../graph/editing/clipboard";
import type { Point } from "../../../graph/definition";
import { addStep, connect, moveSteps, remove } from "../../../graph/editing/edit";
import { STEP_HEIGHT, STEP_WIDTH, freePlace } from "../../../graph/places";
import { canAdd, canConnect, newStep } from "../../../graph/specs";
import { useEditorContext } from "./editor";

export interface CanvasActions {
  /** Adds a step, in the middle of the view without a place; `from` is joined to it. */
  add: (kind: string, at?: Point, from?: string) => void;
  connect: (source: string, target: string) => void;
  remove: (stepIds: readonly string[], wayIds: readonly string[]) => void;
  copy: () => string;
  paste: (words: string) => boolean;
  arrange: () => Promise<void>;
}

export function useCanvasActions(): CanvasActions {
  const editor = useEditorContext();
  const flow = useReactFlow();
  return useMemo(() => {
    const { document, selection, specs, change, select, reveal } = editor;
    const { definition } = document;
    const middle = (): Point => {
      const box = window.document.querySelector(".react-flow")?.getBoundingClientRect();
      if (box === undefined) return { x: 0, y: 0 };
      const at = flow.screenToFlowPosition({ x: box.left + box.width / 2, y: box.top + box.height / 2 });
      return { x: at.x - STEP_WIDTH / 2, y: at.y - STEP_HEIGHT / 2 };
    };
    return {
      add: (kind, at, from) => {
        const spec = specs.get(kind);
        if (spec === undefined || !canAdd(spec, definition)) return;
        const step = newStep(spec, definition, freePlace(definition, at ?? middle()));
        const added = addStep(definition, step);
        const isJoined = from !== undefined && canConnect(specs, added, from, step.id);
        const next = isJoined ? connect(added, from, step.id).definition : added;
        change((doc) => ({ ...doc, definition: next }));
        reveal({ stepIds: [step.id], wayIds: [] }, "step");
      },
      connect: (source, target) => {
        if (!canConnect(specs, definition, source, target)) return;
        const joined = connect(definition, source, target);
        change((doc) => ({ ...doc, definition: joined.definition }));
        select({ stepIds: [], wayIds: [joined.way.id] });
      },
      remove: (stepIds, wayIds) => change((doc) => ({ ...doc, definition: remove(doc.definition, stepIds, wayIds) })),
      copy: () => copied(definition, selection.stepIds),
      paste: (words) => {
        const clip = clipOf(words);
        if (clip === null) return false;
        const at = middle();
        const pasted = paste(
          definition,
          clip,
          freePlace(definition, { x: at.x + STEP_WIDTH / 2, y: at.y + STEP_HEIGHT / 2 }),
          specs,
        );
        change((doc) => ({ ...doc, definition: pasted.definition }));
        reveal({ stepIds: pasted.stepIds, wayIds: [] }, "step");
        return true;
      },
      arrange: async () => {
        const { arranged } = await import("../../../graph/layout/layout");
        const sizes = new Map(
          flow
            .getNodes()
            .map((node) => [
              node.id,
              { width: node.measured?.width ?? STEP_WIDTH, height: node.measured?.height ?? STEP_HEIGHT },
            ]),
        );
        change((doc) => ({ ...doc, definition: moveSteps(doc.definition, arranged(doc.definition, sizes)) }));
        requestAnimationFrame(() => void flow.fitView({ duration: 300, padding: 0.18, maxZoom: 1 }));
      },
    };
  }, [editor, flow]);
}
