/** Who is at the page, where, and what their role lets them do there: the same table as docs/roles.md. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import { useToken } from "../api/session";
import type { Role } from "../api/types";

const RANK: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

export interface Permissions {
  /** Change agents, start calls and campaigns. */
  write: boolean;
  /** Keys, members, webhooks, models, carriers, audit log. */
  admin: boolean;
  own: boolean;
}

/** Without a role, which is while it is not known yet, nothing is allowed. */
export function permissionsOf(role: Role | undefined): Permissions {
  const rank = role === undefined ? -1 : RANK[role];
  return { write: rank >= 1, admin: rank >= 2, own: rank >= 3 };
}

/** The organization, the role, preferences and limits of the signed-in user. */
export function useOrganizationContext() {
  const token = useToken();
  return useQuery({
    queryKey: ["whereabouts", token],
    enabled: token !== null,
    staleTime: 60_000,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/context")),
  });
}

export function usePermissions(): Permissions {
  return permissionsOf(useOrganizationContext().data?.role);
}

export function useAccount() {
  const token = useToken();
  return useQuery({
    queryKey: ["account", token],
    enabled: token !== null,
    staleTime: 60_000,
    queryFn: () => unwrap(api.GET("/api/v1/auth/me")),
  });
}
