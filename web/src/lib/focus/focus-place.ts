/** Where the keyboard goes on when what had the focus is no longer there: the part of the page around it. */

const NAMED = "[role=region], section";

/** What stands around an element, the nearest first: to be asked while it is there. */
export function nearestFocusPlace(element: Element): HTMLElement[] {
  const parent = element.parentElement;
  return parent === null || parent === document.body ? [] : [parent, ...nearestFocusPlace(parent)];
}

/** `left`: what stood around it. What stands beside the page, as dialogs do, is no place. */
export function focusNearestPlace(left: readonly HTMLElement[]): void {
  const there = left.filter((one) => one.isConnected && one.parentElement?.closest("main"));
  const place = there.find((one) => one.matches(NAMED)) ?? there[0];
  if (!place) return;
  if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}
