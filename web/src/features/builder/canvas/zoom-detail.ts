/** How much is drawn at which zoom: what could not be read is left out. */

import { useStore } from "@xyflow/react";
import { useMemo } from "react";

/** Below this zoom labels cannot be read and are not drawn; a larger graph is shown from its start on. */
export const LABELS_FROM = 0.45;
/** Below this zoom the text of a step is four pixels high at most: lines stand for it. */
const TEXT_FROM = 0.3;

/** The layer of labels while they can be read. */
export function useLabels(): Element | null {
  const isLegible = useStore((state) => state.transform[2] >= LABELS_FROM);
  const canvas = useStore((state) => state.domNode);
  const layer = useMemo(() => canvas?.querySelector(".react-flow__edgelabel-renderer") ?? null, [canvas]);
  return isLegible ? layer : null;
}

/** Whether steps are too small for text. */
export function useIsFar(): boolean {
  return useStore((state) => state.transform[2] < TEXT_FROM);
}
