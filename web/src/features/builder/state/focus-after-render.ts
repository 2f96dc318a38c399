/** Focus for what is drawn only a moment from now. */

const FRAMES = 20;

/** Focuses what `find` gives as soon as it is there and can be seen; returns what calls that off. */
export function focusAfterRender(find: () => HTMLElement | null | undefined, options?: FocusOptions): () => void {
  let left = FRAMES;
  let frame = 0;
  const look = () => {
    const element = find();
    // One that is hidden does not take it.
    element?.focus(options);
    left -= 1;
    if (left > 0 && (element === null || element === undefined || document.activeElement !== element))
      frame = requestAnimationFrame(look);
  };
  frame = requestAnimationFrame(look);
  return () => cancelAnimationFrame(frame);
}

/** The step on the canvas. */
export function nodeElement(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
}
