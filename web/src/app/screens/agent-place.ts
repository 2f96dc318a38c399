/** A place in an agent, as it stands in the address of its page. */

export interface AgentPlace {
  /** The id of a step, which is brought into view. */
  step?: string;
}

/** Keeps what can be used of an address that anybody may have typed. */
export function readAgentPlace(raw: Record<string, unknown>): AgentPlace {
  const step = raw["step"];
  if (typeof step === "number") return { step: String(step) };
  return typeof step === "string" && step !== "" ? { step } : {};
}
