/** Requests about members and invitations. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Role, Schema } from "../../../lib/api/types";

export function useMembers() {
  return useQuery({ queryKey: ["members"], queryFn: () => unwrap(api.GET("/api/v1/organizations/members")) });
}

export function useInvitations() {
  return useQuery({ queryKey: ["invitations"], queryFn: () => unwrap(api.GET("/api/v1/organizations/invitations")) });
}

export function useInvite() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"InvitationCreate">) => unwrap(api.POST("/api/v1/organizations/members", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["invitations"] }),
  });
}

export function useRevoke() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(
        api.DELETE("/api/v1/organizations/invitations/{invitation_id}", { params: { path: { invitation_id: id } } }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["invitations"] }),
  });
}

export function useChangeRole() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ userId, role }: { userId: number; role: Role }) =>
      unwrap(
        api.PATCH("/api/v1/organizations/members/{user_id}", { params: { path: { user_id: userId } }, body: { role } }),
      ),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["members"] }),
        queries.invalidateQueries({ queryKey: ["whereabouts"] }),
      ]),
  });
}

export function useRemoveMember() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (userId: number) =>
      unwrap(api.DELETE("/api/v1/organizations/members/{user_id}", { params: { path: { user_id: userId } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["members"] }),
  });
}

/** Turns two-step sign-in off for a member who lost their device. */
export function useResetSecondFactor() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (userId: number) =>
      unwrap(
        api.DELETE("/api/v1/organizations/members/{user_id}/second-factor", { params: { path: { user_id: userId } } }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["members"] }),
  });
}

export function useUnlinkIdentity() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (userId: number) =>
      unwrap(api.DELETE("/api/v1/organizations/members/{user_id}/identity", { params: { path: { user_id: userId } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["members"] }),
  });
}

/** Makes a link with which the member chooses a new password. */
export function usePasswordLink() {
  return useMutation({
    mutationFn: (userId: number) =>
      unwrap(
        api.POST("/api/v1/organizations/members/{user_id}/password-link", { params: { path: { user_id: userId } } }),
      ),
  });
}
