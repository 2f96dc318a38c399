/** A call to a simulated person: placed by the server, followed by its events. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, unwrap } from "../../lib/api/client";
import type { LiveRun } from "../../lib/live/live-run";
import { useLiveRun } from "../../lib/live/use-live-run";
import type { SimulatedPerson } from "./people";

export interface Simulation {
  person: SimulatedPerson | null;
  runId: number | null;
  run: LiveRun;
  isStarting: boolean;
  error: unknown;
  call: (person: SimulatedPerson) => void;
  hangUp: () => void;
  /** Back to the choice of people. */
  leave: () => void;
}

/** `prepare` runs before the call: what was edited has to be saved first. */
export function useSimulation(agentId: number, prepare: () => Promise<unknown>): Simulation {
  const queries = useQueryClient();
  const start = useMutation({
    mutationFn: async (person: SimulatedPerson) => {
      await prepare();
      // Without an account of its own the sandbox answers by itself, unless calls go out by a real carrier: these people have no
      // real telephone, and no real number may be dialed instead.
      const { configurations } = await unwrap(api.GET("/api/v1/organizations/telephony-configs"));
      const sandbox = configurations.find((item) => item.provider === "sandbox" && !item.inactive);
      const isReal = sandbox === undefined && configurations.some((item) => item.is_default_outbound);
      if (isReal)
        throw new Error(
          "This organization places calls through a real carrier. Connect the carrier “Sandbox” to call simulated people.",
        );
      return unwrap(
        api.POST("/api/v1/telephony/initiate-call", {
          body: {
            workflow_id: agentId,
            phone_number: person.number,
            ...(sandbox === undefined ? {} : { telephony_configuration_id: sandbox.id }),
          },
        }),
      );
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
  const hangUp = useMutation({
    mutationFn: (id: number) =>
      unwrap(api.POST("/api/v1/telephony/hang-up/{workflow_run_id}", { params: { path: { workflow_run_id: id } } })),
  });
  const runId = start.data?.workflow_run_id ?? null;
  const run = useLiveRun(agentId, runId);
  const isOver = run.ended !== null;
  useEffect(() => {
    if (isOver) void queries.invalidateQueries({ queryKey: ["runs"] });
  }, [isOver, queries]);
  return {
    person: start.variables ?? null,
    runId,
    run,
    isStarting: start.isPending,
    error: start.error ?? hangUp.error,
    call: start.mutate,
    hangUp: () => {
      if (runId !== null) hangUp.mutate(runId);
    },
    leave: () => {
      start.reset();
      hangUp.reset();
    },
  };
}
