/** The keyboard goes back to what opened a dialog, also where the dialog is taken off the page instead of being closed. */

import { useLayoutEffect } from "react";

/** As long as the library needs to give the focus back itself, where it can. */
const AFTER_MS = 20;

export function useFocusBack(isOpen: boolean): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    const opener = lasting(document.activeElement);
    return () => {
      const last = document.activeElement;
      window.setTimeout(() => {
        const now = document.activeElement;
        if (now === null || now === document.body || now === last) opener?.focus({ preventScroll: true });
      }, AFTER_MS);
    };
  }, [isOpen]);
}

/** An item of a menu is gone when its dialog closes: the button of the menu is still there. */
function lasting(opener: Element | null): HTMLElement | null {
  const button = document.getElementById(opener?.closest("[role=menu]")?.getAttribute("aria-labelledby") ?? "");
  const found = button ?? opener;
  return found instanceof HTMLElement && found !== document.body ? found : null;
}
