/** The signed-in person's token, kept over reloads and shared between tabs; beneath it a superuser's own one. */

import { useSyncExternalStore } from "react";

const KEY = "offhook.token";
/** The superuser's own token while KEY holds a borrowed one. */
const OWN_KEY = "offhook.own-token";
/** Set when a session expired, so that the sign-in page can say so. */
const EXPIRED_KEY = "offhook.expired";

/** What the sign-in page says after an account or organization was deleted. */
const FAREWELL_KEY = "offhook.farewell";

const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());

export function currentToken(): string | null {
  return localStorage.getItem(KEY);
}

export function startSession(value: string): void {
  localStorage.setItem(KEY, value);
  localStorage.removeItem(OWN_KEY);
  sessionStorage.removeItem(EXPIRED_KEY);
  sessionStorage.removeItem(FAREWELL_KEY);
  changed();
}

export function endSession(): void {
  localStorage.removeItem(KEY);
  localStorage.removeItem(OWN_KEY);
  changed();
}

/** Ends a session that is over on the server. The sign-in page says the sentence until somebody signs in. */
export function endSessionWith(farewell: string): void {
  sessionStorage.setItem(FAREWELL_KEY, farewell);
  sessionStorage.removeItem(EXPIRED_KEY);
  endSession();
}

/** Ends a session that one wants to renew: the sign-in page says the sentence, and leads back to where one was. */
export function endSessionToReturn(words: string): void {
  sessionStorage.setItem(FAREWELL_KEY, words);
  sessionStorage.setItem(EXPIRED_KEY, "1");
  endSession();
}

export function farewell(): string | null {
  return sessionStorage.getItem(FAREWELL_KEY);
}

/** The server does not know the token any more. A borrowed session gives way to one's own. */
export function expireSession(refused: string | null): void {
  if (currentToken() === null || refused !== currentToken()) return;
  if (localStorage.getItem(OWN_KEY) !== null) {
    stopImpersonation();
    return;
  }
  sessionStorage.setItem(EXPIRED_KEY, "1");
  endSession();
}

export function hasExpired(): boolean {
  return sessionStorage.getItem(EXPIRED_KEY) !== null;
}

/** Uses another user's token until `stopImpersonation`. */
export function startImpersonation(value: string): void {
  const own = currentToken();
  if (own !== null) localStorage.setItem(OWN_KEY, own);
  localStorage.setItem(KEY, value);
  changed();
}

export function stopImpersonation(): void {
  const own = localStorage.getItem(OWN_KEY);
  localStorage.removeItem(OWN_KEY);
  if (own === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, own);
  changed();
}

export function subscribeToSession(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

export function useToken(): string | null {
  return useSyncExternalStore(subscribeToSession, currentToken);
}
