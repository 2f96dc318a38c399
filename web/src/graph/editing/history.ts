/** Undo and redo over values that are never changed in place. */

export interface History<T> {
  past: T[];
  present: T;
  future: T[];
  /** What the last change was to, and when: typing in one field is one change. */
  last: { tag: string; at: number } | null;
}

const MOST = 200;
/** Changes to the same thing within this time (ms) are undone together. */
const TOGETHER_MS = 1_500;

export function startHistory<T>(present: T): History<T> {
  return { past: [], present, future: [], last: null };
}

/** The next value; `tag` names what was changed, empty for what always stands alone. */
export function pushChange<T>(history: History<T>, next: T, tag = "", at = 0): History<T> {
  if (next === history.present) return history;
  const isSame = tag !== "" && history.last?.tag === tag && at - history.last.at < TOGETHER_MS;
  const past = isSame ? history.past : [...history.past, history.present].slice(-MOST);
  return { past, present: next, future: [], last: { tag, at } };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), present: before, future: [history.present, ...history.future], last: null };
}

export function redo<T>(history: History<T>): History<T> {
  const [after, ...future] = history.future;
  if (after === undefined) return history;
  return { past: [...history.past, history.present], present: after, future, last: null };
}

/** Applies a change that the user did not make, such as an address from the server, to every moment. */
export function mapHistory<T>(history: History<T>, apply: (value: T) => T): History<T> {
  return {
    ...history,
    past: history.past.map(apply),
    present: apply(history.present),
    future: history.future.map(apply),
  };
}
