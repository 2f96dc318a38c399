/** Requests that a browser call needs. */

import { useQuery } from "@tanstack/react-query";
import { socketAddress } from "../../lib/api/address";
import { api, unwrap } from "../../lib/api/client";

export interface MediaAddress {
  runId: number;
  url: string;
}

/** Makes a run and says where its audio goes; the token in the address works once. */
export async function createBrowserRun(agentId: number): Promise<MediaAddress> {
  const run = await unwrap(
    api.POST("/api/v1/workflow/{workflow_id}/runs", {
      params: { path: { workflow_id: agentId } },
      body: { mode: "browser" },
    }),
  );
  return {
    runId: run.id,
    url: socketAddress(run.media_url ?? `/api/v1/browser/media/${run.id}`, run.media_token ?? "", window.location.href),
  };
}

/** Whether this organization still speaks with the offline demonstration voice. */
export function useIsDemoVoice(): boolean {
  const models = useQuery({
    queryKey: ["models"],
    staleTime: 60_000,
    retry: false,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/model-configurations/v2")),
  });
  const effective = models.data?.effective;
  return [effective?.llm, effective?.tts, effective?.stt].some((model) => model?.provider === "builtin");
}
