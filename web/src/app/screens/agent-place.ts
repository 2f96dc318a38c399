/** A place in an agent, as it stands in the address of its page. */

export interface AgentPlace {
  /** The id of a step, which is brought into view. */
  step?: string;
  /** The id of a run that a scenario is made of. */
  scenario_from?: number;
}

/** Keeps what can be used of an address that anybody may have typed. */
export function readAgentPlace(raw: Record<string, unknown>): AgentPlace {
  const { step, scenario_from: runId } = raw;
  const isStep = typeof step === "number" || (typeof step === "string" && step !== "");
  const isRun = typeof runId === "number" && Number.isSafeInteger(runId) && runId > 0;
  return { ...(isStep ? { step: String(step) } : {}), ...(isRun ? { scenario_from: runId } : {}) };
}
