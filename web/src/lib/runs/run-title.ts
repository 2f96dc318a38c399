/** What people call a run, instead of its name in the API ("WR-TEL-IN-04211873"). */
export interface TitledRun {
  id: number;
  mode: string;
  direction: string;
  phone_number: string | null;
}

/** Returns "Call from +12125550106" for a call with a number, else what it was, with its number in the list: "Text chat 42". */
export function runTitle({ id, mode, direction, phone_number }: TitledRun): string {
  if (mode === "textchat") return `Text chat ${id}`;
  if (mode === "browser") return `Browser call ${id}`;
  const isInbound = direction === "inbound";
  if (phone_number === null) return `${isInbound ? "Inbound" : "Outbound"} call ${id}`;
  return `Call ${isInbound ? "from" : "to"} ${phone_number}`;
}
