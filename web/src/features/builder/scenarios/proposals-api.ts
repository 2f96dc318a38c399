/** Requests about proposed scenarios. */

import { useMutation } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import type { Schema } from "../../../lib/api/types";
import { useRefresh } from "../api";
import { fetchScenarios } from "./api";
import { nameFrom, type PlainScenario, titleOf } from "./scenario";

export type Proposals = Schema<"ScenarioProposalsResponse">;

/** Asks for proposals once what is on the page is saved. Nothing of them is stored. */
export function usePropose(id: number, flush: () => Promise<number>) {
  return useMutation({
    mutationFn: async () => {
      await flush();
      return unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/scenario-proposals", { params: { path: { workflow_id: id } } }),
      );
    },
  });
}

/** Adds scenarios to the draft, all of them or none, under names that are free. */
async function addScenarios(id: number, chosen: readonly PlainScenario[]): Promise<void> {
  const stored = await fetchScenarios(id);
  const names = stored.scenarios.map((one) => String(one["name"]));
  const added = chosen.map((scenario) => {
    const name = names.includes(scenario.name) ? nameFrom(titleOf(scenario), names) : scenario.name;
    names.push(name);
    return { ...scenario, name };
  });
  await unwrap(
    api.PUT("/api/v1/workflow/{workflow_id}/scenarios", {
      params: { path: { workflow_id: id }, header: { "if-match": `"${stored.revision}"` } },
      body: { scenarios: [...stored.scenarios, ...added] as unknown as Schema<"Scenario">[] },
    }),
  );
}

export function useAddScenarios(id: number) {
  const refresh = useRefresh(id);
  return useMutation({
    mutationFn: (chosen: readonly PlainScenario[]) => addScenarios(id, chosen),
    onSuccess: refresh,
  });
}
