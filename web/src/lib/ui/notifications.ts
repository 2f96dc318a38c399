/** Short messages that appear for a moment: what was done, or why it was not. */

import { useSyncExternalStore } from "react";
import { messageOf } from "../api/errors";

export interface Notification {
  id: number;
  text: string;
  tone: "good" | "info" | "bad";
}

const STAYS_MS = { good: 5_000, info: 10_000, bad: 12_000 };
let notices: readonly Notification[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notification[]): void {
  notices = next;
  listeners.forEach((listener) => listener());
}

export function dismissNotification(id: number): void {
  set(notices.filter((notice) => notice.id !== id));
}

function show(text: string, tone: Notification["tone"]): void {
  const id = ++lastId;
  set([...notices.slice(-3), { id, text, tone }]);
  window.setTimeout(() => dismissNotification(id), STAYS_MS[tone]);
}

export const notifySuccess = (text: string): void => show(text, "good");
/** Something that the user should know, and that is neither done nor wrong. */
export const notifyInfo = (text: string): void => show(text, "info");
export const notifyError = (error: unknown): void => show(messageOf(error), "bad");

export function useNotifications(): readonly Notification[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
}
