/** What stands in the chat, as a pure function of the turns and of what was sent. */

import type { components } from "../../lib/api/api";

type Turn = components["schemas"]["ChatTurn"];

export interface ShownTurn {
  id: string;
  caller: string | null;
  agent: string[];
  nodeId: string;
  /** Said after the point that the chat was taken back to: it does not count any more. */
  isBehind: boolean;
  /** Where to go back to in order to say something else here; undefined where there is nothing before. */
  before: string | undefined;
}

export function shownTurns(turns: readonly Turn[], cursor: string | null): ShownTurn[] {
  const at = cursor === null ? turns.length - 1 : turns.findIndex((turn) => turn.id === cursor);
  return turns.map((turn, index) => ({
    id: turn.id,
    caller: turn.user_message?.text ?? null,
    agent: turn.messages.filter((message) => message.role === "agent").map((message) => message.text),
    nodeId: turn.node_id,
    isBehind: index > at,
    before: turns[index - 1]?.id,
  }));
}

/** The step where the chat stands, and those that it came through. */
export function routeOf(turns: readonly ShownTurn[]): { nodeId: string | null; visited: string[] } {
  const counted = turns.filter((turn) => !turn.isBehind);
  return { nodeId: counted.at(-1)?.nodeId ?? null, visited: [...new Set(counted.map((turn) => turn.nodeId))] };
}
