/** What had the keyboard's focus last, also when it has just been taken off the page. */

let last: Element | null = null;

export function watchFocus(): void {
  document.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
  });
}

/** The element that has the focus, or else the one that had it. */
export function getLastFocused(): Element | null {
  const now = document.activeElement;
  return now === null || now === document.body ? last : now;
}
