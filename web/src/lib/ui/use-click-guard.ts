/** Against the second click of a double click, which comes before a button shows that it is busy. */

import { useCallback, useEffect, useRef } from "react";

const DOUBLE_MS = 600;

interface ClickGuard {
  /** Does what it is given, unless it did the same a moment ago. */
  run: (act: () => void, what?: string) => void;
  /** Lets the next click through: something was changed since the last one. */
  reset: () => void;
}

/** Resets itself whenever `isFresh` turns true: a form that was rejected, or opened again, can be sent at once. */
export function useClickGuard(isFresh = true): ClickGuard {
  const last = useRef({ at: -DOUBLE_MS, what: "" });
  const reset = useCallback(() => {
    last.current.at = -DOUBLE_MS;
  }, []);
  useEffect(() => {
    if (isFresh) reset();
  }, [isFresh, reset]);
  const run = useCallback((act: () => void, what = "") => {
    const at = performance.now();
    if (what === last.current.what && at - last.current.at < DOUBLE_MS) return;
    last.current = { at, what };
    act();
  }, []);
  return { run, reset };
}
