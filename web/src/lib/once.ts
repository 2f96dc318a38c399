/** Against the second click of a double click, which comes before a button shows that it is busy. */

import { useRef } from "react";

const DOUBLE_MS = 600;

/** Does what it is given, unless it did something a moment ago. */
export function useOnce(): (act: () => void) => void {
  const last = useRef(-DOUBLE_MS);
  return (act) => {
    const now = performance.now();
    if (now - last.current < DOUBLE_MS) return;
    last.current = now;
    act();
  };
}
