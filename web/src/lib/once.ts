/** Against the second click of a double click, which comes before a button shows that it is busy. */

import { useRef } from "react";

const DOUBLE_MS = 600;

/** Does what it is given, unless it did the same a moment ago. */
export function useOnce(): (act: () => void, what?: string) => void {
  const last = useRef({ at: -DOUBLE_MS, what: "" });
  return (act, what = "") => {
    const at = performance.now();
    if (what === last.current.what && at - last.current.at < DOUBLE_MS) return;
    last.current = { at, what };
    act();
  };
}
