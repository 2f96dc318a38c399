/** Requests about usage. */

import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../../lib/api/client";
import type { Schema } from "../../lib/api/types";

export type Insights = Schema<"InsightsResponse">;
export type AnswerTimeGroup = Schema<"AnswerTimeGroup">;
export type AnswerTimeGrouping = Schema<"AnswerTimeStatistics">["group_by"];

const EVERY_MS = 30_000;

export function useInsights(days: number) {
  return useQuery({
    queryKey: ["usage", "insights", days],
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/insights", { params: { query: { days } } })),
  });
}

export function useAnswerTimes(days: number, grouping: AnswerTimeGrouping) {
  return useQuery({
    queryKey: ["usage", "answer-times", grouping, days],
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
    queryFn: () =>
      unwrap(api.GET("/api/v1/organizations/usage/answer-times", { params: { query: { days, group_by: grouping } } })),
  });
}

export function usePeriod() {
  return useQuery({
    queryKey: ["usage", "period"],
    refetchInterval: EVERY_MS,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/current-period")),
  });
}

export function useModels() {
  return useQuery({
    queryKey: ["usage", "models"],
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/by-model")),
  });
}

export function useLedger(page: number) {
  return useQuery({
    queryKey: ["usage", "ledger", page],
    placeholderData: (before) => before,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/ledger", { params: { query: { page, limit: 10 } } })),
  });
}

export function useLatest() {
  return useQuery({
    queryKey: ["runs", "all", "latest"],
    refetchInterval: 10_000,
    queryFn: () => unwrap(api.GET("/api/v1/organizations/usage/runs", { params: { query: { limit: 6 } } })),
  });
}

export function useRunningCampaigns() {
  return useQuery({
    queryKey: ["campaigns"],
    refetchInterval: 10_000,
    queryFn: () => unwrap(api.GET("/api/v1/campaign/", { params: { query: { limit: 100 } } })),
    select: (campaigns) =>
      campaigns.filter((campaign) => campaign.status === "running" || campaign.status === "paused"),
  });
}
