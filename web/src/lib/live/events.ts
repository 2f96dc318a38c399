/** The events of a conversation as the socket and the run record carry them, and safe access to their data. */

export interface CallEvent {
  type: string;
  /** Milliseconds on the run's audio clock; 0 = media connected. */
  at_ms: number;
  data: Record<string, unknown>;
}

export function text(event: CallEvent, key: string): string {
  const value = event.data[key];
  return typeof value === "string" ? value : "";
}

export function number(event: CallEvent, key: string): number | null {
  const value = event.data[key];
  return typeof value === "number" ? value : null;
}
