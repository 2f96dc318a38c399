/** The keyboard goes back to what opened a dialog, also where the dialog is taken off the page instead of being closed. */

import { useLayoutEffect } from "react";
import { nearestFocusPlace, focusNearestPlace } from "./focus-place";
import { getLastFocused } from "./last-focused";

/** As long as the library needs to give the focus back itself, where it can. */
const AFTER_MS = 20;

export function useFocusBack(isOpen: boolean): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    // Without motion, the menu is off the page before its dialog is on it.
    const focused = getLastFocused();
    const menu = focused?.closest("[role=menu]") ?? null;
    const opener = lasting(focused, menu);
    const left = opener === null ? [] : nearestFocusPlace(opener);
    return () => {
      const last = document.activeElement;
      window.setTimeout(() => {
        const now = document.activeElement;
        // The library gives it back to the item of a menu, and that is about to go when the dialog was closed at once.
        const isLost = now === null || now === document.body || now === last || (menu?.contains(now) ?? false);
        if (isLost) opener?.focus({ preventScroll: true });
        if (isLost && opener?.isConnected === false) focusNearestPlace(left);
      }, AFTER_MS);
    };
  }, [isOpen]);
}

/** An item of a menu is gone when its dialog closes: the button of the menu is still there. */
function lasting(opener: Element | null, menu: Element | null): HTMLElement | null {
  const button = document.getElementById(menu?.getAttribute("aria-labelledby") ?? "");
  const found = button ?? opener;
  return found instanceof HTMLElement && found !== document.body ? found : null;
}
