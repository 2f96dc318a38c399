/** The tries of an agent beside its canvas, and where the one that runs stands in the graph. */

import { useCallback, useMemo, useState } from "react";
import { type Chat, useChat } from "../features/chat";
import { type Call, useCall } from "../features/talk";

export type BenchMode = "talk" | "type";

export interface Bench {
  mode: BenchMode;
  setMode: (mode: BenchMode) => void;
  call: Call;
  chat: Chat;
  nodeId: string | null;
  visited: readonly string[];
}

/** `flush` stores what was edited: a try runs the draft as the server has it. */
export function useBench(agentId: number, flush: () => Promise<unknown>): Bench {
  const [mode, setMode] = useState<BenchMode>("talk");
  const talked = useCall(agentId);
  const chat = useChat(agentId, flush);
  const { start: startCall } = talked;
  // A draft that cannot be saved is said so above the canvas; the call then runs what is stored.
  const start = useCallback(() => void flush().catch(() => undefined).then(startCall), [flush, startCall]);
  const call = useMemo(() => ({ ...talked, start }), [talked, start]);
  const now = mode === "talk" ? { nodeId: talked.state.conversation.nodeId, visited: talked.state.visited } : chat;
  return { mode, setMode, call, chat, nodeId: now.nodeId, visited: now.visited };
}
