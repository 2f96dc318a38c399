/** One agent with its draft, as several features show it. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { Agent } from "../api/types";

export async function fetchAgent(id: number): Promise<Agent> {
  return unwrap(api.GET("/api/v1/workflow/fetch/{workflow_id}", { params: { path: { workflow_id: id } } }));
}

export function useAgent(id: number) {
  return useQuery({ queryKey: ["agent", id], queryFn: () => fetchAgent(id) });
}
