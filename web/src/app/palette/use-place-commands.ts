/** The pages, the parts of the settings and the agents as commands. */

import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { SECTIONS } from "../../features/settings/sections";
import type { Command } from "../../lib/commands/commands";
import { useAgentNames } from "../../lib/organization/agent-names";
import { permissionsOf, useOrganizationContext } from "../../lib/organization/organization-context";
import { PLACES } from "../shell/places";

export function usePlaceCommands(): Command[] {
  const navigate = useNavigate();
  const agents = useAgentNames().data;
  const role = useOrganizationContext().data?.role;
  return useMemo(
    () => [
      ...PLACES.map(({ to, title }): Command => ({
        id: `page ${to}`,
        title,
        group: "Pages",
        run: () => void navigate({ to }),
      })),
      ...(agents ?? []).map(({ id, name }): Command => ({
        id: `agent ${id}`,
        title: name,
        group: "Agents",
        run: () => void navigate({ to: "/agents/$agentId", params: { agentId: id } }),
      })),
      ...SECTIONS.filter((section) => section.isFor(permissionsOf(role))).map(({ key, title }): Command => ({
        id: `settings ${key}`,
        title,
        group: "Settings",
        run: () => void navigate({ to: "/settings/$section", params: { section: key } }),
      })),
    ],
    [agents, role, navigate],
  );
}
