/** Against the second click of a double click, which comes before a button shows that it is busy. */

import { useEffect, useRef } from "react";

const DOUBLE_MS = 600;

/** Does what it is given, unless it did the same a moment ago. Whenever `isFresh` turns true that is forgotten: a form that
 * was rejected, or opened again, can be sent at once. */
export function useClickGuard(isFresh = true): (act: () => void, what?: string) => void {
  const last = useRef({ at: -DOUBLE_MS, what: "" });
  useEffect(() => {
    if (isFresh) last.current.at = -DOUBLE_MS;
  }, [isFresh]);
  return (act, what = "") => {
    const at = performance.now();
    if (what === last.current.what && at - last.current.at < DOUBLE_MS) return;
    last.current = { at, what };
    act();
  };
}
