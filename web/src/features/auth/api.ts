/** Requests of signing in and out. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import type { Schema } from "../../lib/api/types";
import { startSession, endSession, useToken } from "../../lib/api/session";

type Entry = Schema<"SignedInResponse"> | Schema<"SecondStepResponse">;

/** Starts the session; for people with two-step sign-in it returns the challenge that is there in its place. */
export function enter(answer: Entry): string | null {
  if ("challenge" in answer) return answer.challenge;
  startSession(answer.token);
  return null;
}

export interface Credentials {
  email: string;
  password: string;
}

/** A link works once, so one request per token, however often the page renders. */
export function useLink(token: string | undefined) {
  return useQuery({
    queryKey: ["sign-in-link", token],
    enabled: token !== undefined,
    retry: false,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async () => enter(await unwrap(api.POST("/api/v1/auth/link", { body: { token: token ?? "" } }))),
  });
}

export function useSignIn() {
  return useMutation({
    mutationFn: async (body: Credentials) => enter(await unwrap(api.POST("/api/v1/auth/login", { body }))),
  });
}

export function useSecondStep(challenge: string) {
  return useMutation({
    mutationFn: (code: string) => unwrap(api.POST("/api/v1/auth/second-step", { body: { challenge, code } })),
    onSuccess: (answer) => startSession(answer.token),
  });
}

export function useSignUp() {
  return useMutation({
    mutationFn: (body: Schema<"SignupBody">) => unwrap(api.POST("/api/v1/auth/signup", { body })),
  });
}

/** Spends a link that sets the password. */
export function useNewPassword(token: string) {
  return useMutation({
    mutationFn: async (new_password: string) =>
      enter(await unwrap(api.POST("/api/v1/auth/link", { body: { token, new_password } }))),
  });
}

/** Whether the operator lets strangers ask for an account. */
export function useSignupEnabled(): boolean {
  const health = useQuery({
    queryKey: ["health"],
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET("/api/v1/health")),
  });
  return health.data?.signup_enabled ?? false;
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/auth/logout")),
    onSettled: () => {
      endSession();
      queries.clear();
    },
  });
}

/** The organizations that one belongs to. */
export function useOrganizations() {
  const token = useToken();
  return useQuery({
    queryKey: ["organizations", token],
    enabled: token !== null,
    staleTime: 60_000,
    queryFn: () => unwrap(api.GET("/api/v1/auth/organizations")),
  });
}

/** Switches to another organization and drops the cached data of the first. */
export function useSwitch() {
  return useMutation({
    mutationFn: (organization_id: number) => unwrap(api.POST("/api/v1/auth/switch", { body: { organization_id } })),
    onSuccess: (answer) => {
      startSession(answer.token);
      window.location.assign("/");
    },
  });
}

export function useInvitation(token: string) {
  return useQuery({
    queryKey: ["invitation", token],
    enabled: token !== "",
    retry: false,
    queryFn: () => unwrap(api.POST("/api/v1/auth/invitations/look", { body: { token } })),
  });
}

export function useAcceptInvitation(token: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { name?: string; password?: string }) =>
      unwrap(api.POST("/api/v1/auth/invitations/accept", { body: { token, ...body } })),
    onSuccess: (answer) => {
      queries.clear();
      startSession(answer.token);
    },
  });
}
