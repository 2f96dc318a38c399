/** Names of agents for lists and choices, which several features need. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";

export function useAgentNames() {
  return useQuery({
    queryKey: ["agents", "names"],
    staleTime: 30_000,
    queryFn: () => unwrap(api.GET("/api/v1/workflow/summary")),
  });
}

/** As a Select wants them. */
export function useAgentChoices(): { value: string; label: string }[] {
  return (useAgentNames().data ?? []).map((agent) => ({ value: String(agent.id), label: agent.name }));
}
