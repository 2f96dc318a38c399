/** The keyboard's focus is not lost to nowhere: a button that is off while its request runs gets it back when it is on
 * again, and when what had it is taken off the page, the part of the page around it has it. */

import { nearestFocusPlace, focusNearestPlace } from "./focus-place";

/** Whoever takes something away may know better where to go on, and is asked first. */
const AFTER_MS = 60;

export function keepFocus(): void {
  let last: Element | null = null;
  let left: HTMLElement[] = [];
  const isLost = () => document.activeElement === null || document.activeElement === document.body;
  document.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
    left = last === null ? [] : nearestFocusPlace(last);
  });
  const giveBack = (changes: MutationRecord[]) => {
    for (const { target } of changes) {
      if (target === last && target instanceof HTMLButtonElement && !target.disabled && isLost())
        target.focus({ preventScroll: true });
    }
    if (last === null || last.isConnected || !isLost()) return;
    last = null;
    window.setTimeout(() => isLost() && focusNearestPlace(left), AFTER_MS);
  };
  new MutationObserver(giveBack).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ["disabled"],
  });
}
