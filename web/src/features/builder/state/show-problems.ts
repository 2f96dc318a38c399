/** Opens the list of problems from elsewhere on the page: a refused publication does. */

import { useSyncExternalStore } from "react";

let asked = 0;
const listeners = new Set<() => void>();

export function showProblems(): void {
  asked += 1;
  listeners.forEach((listener) => listener());
}

/** Counts how often the list was asked for. */
export function useShowProblems(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}
