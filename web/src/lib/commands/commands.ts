/** What the command palette offers: each part of the page adds what can be done there while it is shown. */

import { useEffect, useSyncExternalStore } from "react";

export interface Command {
  id: string;
  title: string;
  /** The heading under which it stands. */
  group: string;
  /** More words by which it is found. */
  keywords?: string;
  /** Its shortcut, as people read it. */
  keys?: string;
  run: () => void;
}

let lists: readonly (readonly Command[])[] = [];
let all: readonly Command[] = [];
const listeners = new Set<() => void>();

function set(next: readonly (readonly Command[])[]): void {
  lists = next;
  all = next.flat();
  listeners.forEach((listener) => listener());
}

/** Offers these commands as long as the component is shown. Pass the same list while nothing changes. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    set([commands, ...lists]);
    return () => set(lists.filter((list) => list !== commands));
  }, [commands]);
}

export function useOfferedCommands(): readonly Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
}
