/** The signed-in person's token, kept over reloads and shared between tabs. */

import { useSyncExternalStore } from "react";

const KEY = "offhook.token";
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());

export function token(): string | null {
  return localStorage.getItem(KEY);
}

export function signedIn(value: string): void {
  localStorage.setItem(KEY, value);
  changed();
}

export function signedOut(): void {
  localStorage.removeItem(KEY);
  changed();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

export function useToken(): string | null {
  return useSyncExternalStore(subscribe, token);
}
