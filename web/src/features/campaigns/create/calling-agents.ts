/** The agents that a campaign can be made for. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";

export interface CallingAgent {
  value: string;
  label: string;
  isPublished: boolean;
}

/** Agents as a Select wants them. They are asked for again with the focus: one may have been published in another tab. */
export function useCallingAgents(): CallingAgent[] {
  const agents = useQuery({
    queryKey: ["agents", "calling"],
    queryFn: () => unwrap(api.GET("/api/v1/workflow/fetch", { params: { query: { status: "active" } } })),
    staleTime: 0,
    refetchOnWindowFocus: true,
  });
  return (agents.data ?? []).map((agent) => ({
    value: String(agent.id),
    label: agent.name,
    isPublished: agent.published_version_number !== null,
  }));
}
