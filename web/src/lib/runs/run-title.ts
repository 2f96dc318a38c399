/** What people call a run, instead of its name in the API ("WR-TEL-IN-04211873"). */
export interface TitledRun {
  id: number;
  mode: string;
  direction: string;
  phone_number: string | null;
  /** In the list of all runs. */
  is_sample_call?: boolean;
  /** On a run, and in the list of an agent's runs. */
  initial_context?: Record<string, unknown>;
}

/** Returns whether a run is the call with a simulated caller that the first start records. */
export function isSampleCall({ is_sample_call, initial_context }: TitledRun): boolean {
  return is_sample_call ?? initial_context?.["sample_call"] === true;
}

/** Returns "Call from +12125550106" for a call with a number, else what it was, with its number in the list: "Text chat 42". */
export function runTitle(run: TitledRun): string {
  const { id, mode, direction, phone_number } = run;
  if (isSampleCall(run)) return "Sample call";
  if (mode === "textchat") return `Text chat ${id}`;
  if (mode === "browser") return `Browser call ${id}`;
  const isInbound = direction === "inbound";
  if (phone_number === null) return `${isInbound ? "Inbound" : "Outbound"} call ${id}`;
  return `Call ${isInbound ? "from" : "to"} ${phone_number}`;
}
