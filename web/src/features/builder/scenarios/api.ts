/** Requests about an agent's scenarios and their plays. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { isEqual } from "../../../graph/definition";
import { api, unwrap } from "../../../lib/api/client";
import { ApiError } from "../../../lib/api/errors";
import { keepAnswer } from "../../../lib/api/keep-answer";
import type { Schema } from "../../../lib/api/types";
import { useRefresh } from "../api";
import { type AnswerChoice, answersOrder } from "./answers";
import type { PlainScenario } from "./scenario";

export type Play = Schema<"ScenarioPlayResponse">;
export type LatestResult = Schema<"LatestScenarioResultResponse">;
export type Gate = Schema<"PublishGateResponse">;
export type GateDemands = Schema<"PublishGateSettings">;
export type PlayedResult = Schema<"ScenarioResultResponse">;

const POLL_MS = 700;
const OTHERS_CHANGE = "Someone else changed this scenario while it was open. Close it and open it again.";

const agentPath = (id: number) => ({ path: { workflow_id: id } });

export async function fetchScenarios(id: number) {
  return unwrap(api.GET("/api/v1/workflow/{workflow_id}/scenarios", { params: agentPath(id) }));
}

export function useScenarios(id: number) {
  return useQuery({ queryKey: ["agent", id, "scenarios"], queryFn: () => fetchScenarios(id) });
}

export function useLatestResults(id: number) {
  return useQuery({
    queryKey: ["agent", id, "scenario-results"],
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/scenario-results", { params: agentPath(id) })),
  });
}

/** What is wrong with scenarios, and the same as YAML when nothing is. */
export async function checkScenarios(id: number, yaml: string) {
  return unwrap(api.POST("/api/v1/workflow/{workflow_id}/scenario-check", { params: agentPath(id), body: { yaml } }));
}

/** Writes one scenario of the draft; `opened` is how it was when its form was opened, null for a new one. */
async function storeScenario(id: number, opened: PlainScenario | null, scenario: PlainScenario): Promise<void> {
  const stored = await fetchScenarios(id);
  const name = opened?.name ?? scenario.name;
  const found = stored.scenarios.find((one) => one["name"] === name);
  if (opened === null ? found !== undefined : !isEqual(found, opened))
    throw new ApiError(409, "scenario_changed", OTHERS_CHANGE);
  await unwrap(
    api.PUT("/api/v1/workflow/{workflow_id}/scenarios/{scenario_name}", {
      params: {
        path: { workflow_id: id, scenario_name: name },
        header: { "if-match": `"${stored.revision}"` },
      },
      body: scenario as unknown as Schema<"Scenario">,
    }),
  );
}

export function useStoreScenario(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: ({ opened, scenario }: { opened: PlainScenario | null; scenario: PlainScenario }) =>
      storeScenario(id, opened, scenario),
    onSuccess: refresh,
  });
}

export function useDeleteScenario(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (name: string) =>
      unwrap(
        api.DELETE("/api/v1/workflow/{workflow_id}/scenarios/{scenario_name}", {
          params: { path: { workflow_id: id, scenario_name: name } },
        }),
      ),
    onSuccess: refresh,
  });
}

/** The recording of a failed call with sound, fetched as a whole: audio elements send no credentials. */
export function usePlayedSound(id: number, play: number, result: PlayedResult) {
  return useQuery({
    queryKey: ["agent", id, "scenario-recording", result.id],
    enabled: result.has_recording,
    staleTime: Infinity,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/scenario-plays/{play_id}/results/{result_id}/recording", {
          params: { path: { workflow_id: id, play_id: play, result_id: result.id } },
          parseAs: "blob",
        }),
      ),
  });
}

export function isOpen(play: Play | undefined): boolean {
  return play?.state === "queued" || play?.state === "running";
}

/** The newest play of the agent, followed until it is over. */
export function useNewestPlay(id: number) {
  return useQuery({
    queryKey: ["agent", id, "newest-play"],
    refetchInterval: ({ state }) => (isOpen(state.data?.[0]) ? POLL_MS : false),
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/scenario-plays", {
          params: { ...agentPath(id), query: { limit: 1 } },
        }),
      ),
  });
}

interface Order {
  /** None: all of them. */
  names: string[];
  hasSound: boolean;
  answers: AnswerChoice;
  budgetCents?: number | undefined;
  /** The draft without one. */
  version?: number | undefined;
}

/** Orders a play of these scenarios. */
export function useOrderPlay(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ names, hasSound, answers, budgetCents, version }: Order) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/scenario-plays", {
          params: agentPath(id),
          body: {
            scenarios: names,
            seeds: [0],
            mode: hasSound ? "sound" : "text",
            cpu_budget_s: hasSound ? 300 : 60,
            ...answersOrder(answers, budgetCents),
            ...(version === undefined ? {} : { version }),
          },
        }),
      ),
    onSuccess: (play) => keepAnswer(queries, ["agent", id, "newest-play"], [play]),
  });
}

export function useCancelPlay(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (play: number) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/scenario-plays/{play_id}/cancel", {
          params: { path: { workflow_id: id, play_id: play } },
        }),
      ),
    onSuccess: (play) => keepAnswer(queries, ["agent", id, "newest-play"], [play]),
  });
}

/** What the agent demands before it is published, and the verdict about its draft. */
export function usePublishGate(id: number) {
  return useQuery({
    queryKey: ["agent", id, "publish-gate"],
    // Every save of the draft makes it another one.
    staleTime: 0,
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/publish-gate", { params: agentPath(id) })),
  });
}

export function useSetPublishGate(id: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: GateDemands) =>
      unwrap(api.PUT("/api/v1/workflow/{workflow_id}/publish-gate", { params: agentPath(id), body })),
    onSuccess: (gate) => keepAnswer(queries, ["agent", id, "publish-gate"], gate),
  });
}

export function usePlayedResults(id: number, play: number) {
  return useQuery({
    queryKey: ["agent", id, "play", play, "results"],
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/workflow/{workflow_id}/scenario-plays/{play_id}/results", {
          params: { path: { workflow_id: id, play_id: play } },
        }),
      ),
  });
}
