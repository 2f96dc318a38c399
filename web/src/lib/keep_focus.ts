/** A button that is off while its request runs loses the keyboard's focus to nowhere: it gets it back when it is on again. */

export function keepFocus(): void {
  let last: EventTarget | null = null;
  document.addEventListener("focusin", ({ target }) => {
    last = target;
  });
  const giveBack = (changes: MutationRecord[]) => {
    for (const { target } of changes) {
      if (target === last && target instanceof HTMLButtonElement && !target.disabled && document.activeElement === document.body) {
        target.focus({ preventScroll: true });
      }
    }
  };
  new MutationObserver(giveBack).observe(document.body, { subtree: true, attributeFilter: ["disabled"] });
}
