/** Signing in with an organization's identity provider, and what this browser remembers on the way there and back. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import { enter } from "./api";

/** Of one tab: the secret without which the provider's answer opens nothing, and the page to open then. */
const WAITING = "offhook.provider-sign-in.";
/** The organization that signed in here last. */
const NAME = "offhook.sign-in-name";

interface Waiting {
  secret: string;
  next?: string;
}

export interface ProviderAnswer {
  code?: string;
  state?: string;
  iss?: string;
  error?: string;
}

export function rememberedName(): string {
  return localStorage.getItem(NAME) ?? "";
}

/** Goes to the provider of this organization. */
export function useProviderStart() {
  return useMutation({
    mutationFn: async ({ name, next }: { name: string; next?: string }) => {
      const { authorization_url, secret } = await unwrap(
        api.POST("/api/v1/auth/provider/start", { body: { sign_in_name: name } }),
      );
      const address = new URL(authorization_url);
      const state = address.searchParams.get("state");
      if (state === null || !/^https?:$/.test(address.protocol)) throw new Error("This provider cannot be opened.");
      const waiting: Waiting = next === undefined ? { secret } : { secret, next };
      sessionStorage.setItem(WAITING + state, JSON.stringify(waiting));
      localStorage.setItem(NAME, name.trim().toLowerCase());
      window.location.assign(address.href);
    },
  });
}

function takeWaiting(state: string): Waiting | null {
  const text = sessionStorage.getItem(WAITING + state);
  sessionStorage.removeItem(WAITING + state);
  return text === null ? null : (JSON.parse(text) as Waiting);
}

/** Hands the provider's answer in, once; the result is the challenge, if there is one, and the page to open. */
export function useProviderAnswer({ code, state, iss, error }: ProviderAnswer) {
  return useQuery({
    queryKey: ["provider-answer", state],
    retry: false,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async () => {
      const waiting = takeWaiting(state ?? "");
      if (error !== undefined) throw new Error(`The identity provider answered: ${error.replaceAll("_", " ")}.`);
      if (waiting === null || code === undefined || state === undefined)
        throw new Error("This sign-in was started in another browser or has expired. Start again.");
      const body = { code, state, secret: waiting.secret, ...(iss === undefined ? {} : { iss }) };
      const challenge = enter(await unwrap(api.POST("/api/v1/auth/provider/finish", { body })));
      return { challenge, next: waiting.next };
    },
  });
}
