/** Requests about campaigns. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, unwrap } from "../../lib/api/client";
import { listenToEvents, waitAfter } from "../../lib/api/server-events";
import { useLongList } from "../../lib/api/long-list";
import type { Schema } from "../../lib/api/types";
import { uploadFile } from "../../lib/api/upload";
import { refreshWait } from "./start/start-time";

export type Campaign = Schema<"CampaignResponse">;
export type Progress = Schema<"ProgressRecord">;

const at = (id: number) => ({ params: { path: { campaign_id: id } } });

export function useCampaigns() {
  return useLongList(
    ["campaigns", "all"],
    (part) => unwrap(api.GET("/api/v1/campaign/", { params: { query: part } })),
    (campaigns) => (campaigns.some((campaign) => campaign.status === "running") ? 3_000 : 20_000),
  );
}

export function useCampaign(id: number) {
  return useQuery({
    queryKey: ["campaigns", id],
    // Whether its hours are open changes with time alone, and so does a draft that starts by itself.
    refetchInterval: (query) => refreshWait(query.state.data),
    queryFn: () => unwrap(api.GET("/api/v1/campaign/{campaign_id}", at(id))),
  });
}

export function usePreflight(id: number, isWanted: boolean) {
  return useQuery({
    queryKey: ["campaigns", id, "preflight"],
    enabled: isWanted,
    queryFn: () => unwrap(api.GET("/api/v1/campaign/{campaign_id}/preflight", at(id))),
  });
}

export function useTestCall(id: number) {
  return useMutation({
    mutationFn: (body: { phone_number: string }) =>
      unwrap(api.POST("/api/v1/campaign/{campaign_id}/test-call", { ...at(id), body })),
  });
}

export function useCreateCampaign() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"CreateCampaignRequest">) => unwrap(api.POST("/api/v1/campaign/create", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

export function useUpdateCampaign(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"UpdateCampaignRequest">) =>
      unwrap(api.PATCH("/api/v1/campaign/{campaign_id}", { ...at(id), body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

export type Move = "start" | "pause" | "resume";

export function useMove(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (move: Move) => {
      if (move === "start") return unwrap(api.POST("/api/v1/campaign/{campaign_id}/start", at(id)));
      if (move === "pause") return unwrap(api.POST("/api/v1/campaign/{campaign_id}/pause", at(id)));
      return unwrap(api.POST("/api/v1/campaign/{campaign_id}/resume", at(id)));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

export function useRedial(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<"RedialCampaignRequest">) =>
      unwrap(api.POST("/api/v1/campaign/{campaign_id}/redial", { ...at(id), body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

/** Deletes the campaign, and its calls if asked. */
export function useDeleteCampaign(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (delete_runs: boolean) =>
      unwrap(
        api.DELETE("/api/v1/campaign/{campaign_id}", {
          params: { path: { campaign_id: id }, query: { delete_runs } },
        }),
      ),
    onSuccess: () => {
      queries.removeQueries({ queryKey: ["campaigns", id] });
      return queries.invalidateQueries({ queryKey: ["campaigns", "all"] });
    },
  });
}

export function useDeleteContacts(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/campaign/{campaign_id}/contacts", at(id))),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["campaigns"] }),
  });
}

export type ContactState = "pending" | "calling" | "done";

export type Outcome = Schema<"RedialCampaignRequest">["redial_statuses"][number];
export const OUTCOMES: Outcome[] = [
  "answered",
  "not_understood",
  "interrupted_by_us",
  "no_answer",
  "busy",
  "voicemail",
  "failed",
  "canceled",
  "do_not_call",
  "invalid_number",
];

export interface WhichContacts {
  state: ContactState | null;
  outcome: Outcome | null;
  result: string | null;
}

export function useContacts(id: number, { state, outcome, result }: WhichContacts, page: number, isLive: boolean) {
  return useQuery({
    queryKey: ["campaigns", id, "contacts", state, outcome, result, page],
    placeholderData: (before) => before,
    refetchInterval: isLive ? 3_000 : false,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/campaign/{campaign_id}/contacts", {
          params: {
            path: { campaign_id: id },
            query: {
              page,
              limit: 25,
              ...(state === null ? {} : { state: [state] }),
              ...(outcome === null ? {} : { outcome: [outcome] }),
              ...(result === null ? {} : { result: [result] }),
            },
          },
        }),
      ),
  });
}

/** What the contacts came to, by the agent's definition of results. Asked again as contacts are done. */
export function useCampaignResults(campaign: Pick<Campaign, "id" | "status">, done: number) {
  return useQuery({
    queryKey: ["campaigns", campaign.id, "results", campaign.status === "running" ? Math.min(done, 1) : done],
    placeholderData: (before) => before,
    refetchInterval: campaign.status === "running" ? 5_000 : false,
    queryFn: () => unwrap(api.GET("/api/v1/campaign/{campaign_id}/results", at(campaign.id))),
  });
}

export function useWhyNotNow(id: number, contactId: number | null) {
  return useQuery({
    queryKey: ["campaigns", id, "why", contactId],
    enabled: contactId !== null,
    staleTime: 0,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/campaign/{campaign_id}/contacts/{contact_id}/why-not-now", {
          params: { path: { campaign_id: id, contact_id: contactId ?? 0 } },
        }),
      ),
  });
}

export async function sourceAddress(id: number): Promise<string> {
  return (await unwrap(api.GET("/api/v1/campaign/{campaign_id}/source-download-url", at(id)))).download_url;
}

const AGAIN_MS = 3_000;

/** The progress as it changes, told by the server until the campaign is over. */
export function useLiveProgress(campaign: Campaign): Progress {
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const { id, status } = campaign;
  useEffect(() => {
    if (status !== "running" && status !== "paused") {
      setProgress(null);
      return;
    }
    const leaving = new AbortController();
    let again = 0;
    let isOver = false;
    const follow = async () => {
      let wait: number | null = AGAIN_MS;
      try {
        await listenToEvents(`/api/v1/campaign/${id}/progress/stream`, leaving.signal, (event) => {
          if (event.name !== "progress" && event.name !== "ended") return;
          const told = JSON.parse(event.data) as Progress;
          if (event.name === "progress") setProgress(told);
          isOver ||= event.name === "ended";
          if (isOver || told.status !== status) void queries.invalidateQueries({ queryKey: ["campaigns"] });
        });
      } catch (error) {
        wait = waitAfter(error, AGAIN_MS);
      }
      // The server ends every stream after a while.
      if (wait !== null && !isOver && !leaving.signal.aborted) again = window.setTimeout(() => void follow(), wait);
    };
    void follow();
    return () => {
      leaving.abort();
      window.clearTimeout(again);
    };
  }, [id, status, queries]);
  return progress ?? campaign.progress;
}

/** Sends a file to the place that the API gives it; tells how much has gone, 0…1. */
export async function upload(file: File, onShare: (share: number) => void): Promise<string> {
  const place = await unwrap(
    api.POST("/api/v1/s3/presigned-upload-url", {
      body: { file_name: file.name, file_size: file.size, content_type: "text/csv" },
    }),
  );
  const isOurs = new URL(place.upload_url).pathname.startsWith("/api/");
  await uploadFile({
    method: "PUT",
    address: isOurs ? localOf(place.upload_url) : place.upload_url,
    body: file,
    headers: { "Content-Type": "text/csv" },
    onShare,
  });
  return place.file_key;
}

/** Files on this server are sent to the origin that the page came from. */
function localOf(address: string): string {
  const url = new URL(address);
  return url.pathname + url.search;
}
