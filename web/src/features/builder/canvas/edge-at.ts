/** Which edge a step lands on. */

/** How far from its line, in pixels. */
const REACH = 24;
const STEPS = [0, -REACH, REACH, -REACH / 2, REACH / 2];

/** The id of the edge that is drawn, with its line or its label, at or near a place in the window. */
export function edgeAt(x: number, y: number): string | undefined {
  for (const dx of STEPS)
    for (const dy of STEPS)
      for (const element of window.document.elementsFromPoint(x + dx, y + dy)) {
        const part = element.closest<HTMLElement | SVGElement>(".react-flow__edge, [data-label-of]");
        if (part !== null) return part.dataset["labelOf"] ?? part.dataset["id"];
      }
  return undefined;
}
