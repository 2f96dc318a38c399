/** The tries of an agent beside its canvas, and where the one that runs stands in the graph. */

import { useLocalStorage } from "@mantine/hooks";
import { useCallback, useMemo, useRef, useState } from "react";
import { type Chat, hasSpeech, useChat } from "../../features/chat";
import { type Simulation, useSimulation } from "../../features/simulate";
import { type Call, useCall } from "../../features/talk";

export type TestMode = "talk" | "type" | "simulate";

export interface TestPanelState {
  mode: TestMode;
  setMode: (mode: TestMode) => void;
  /** Talking uses the browser's own recognition and voices. */
  isBrowserVoice: boolean;
  setIsBrowserVoice: (value: boolean) => void;
  call: Call;
  /** Written, and spoken by the browser. */
  chat: Chat;
  spoken: Chat;
  simulation: Simulation;
  nodeId: string | null;
  visited: readonly string[];
}

/** `flush` stores what was edited: a try runs the draft as the server has it. */
export function useTestPanel(agentId: number, flush: () => Promise<unknown>): TestPanelState {
  const [mode, setMode] = useState<TestMode>("talk");
  const [wantsBrowserVoice, setIsBrowserVoice] = useLocalStorage({
    key: "offhook.browser-voice",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const isBrowserVoice = wantsBrowserVoice && hasSpeech();
  // A draft that cannot be saved is said so above the canvas; the try then runs what is stored.
  const prepare = useCallback(() => flush().catch(() => undefined), [flush]);
  const talked = useCall(agentId);
  const chat = useChat(agentId, prepare);
  const spoken = useChat(agentId, prepare);
  const simulation = useSimulation(agentId, prepare);
  const { start: startCall } = talked;
  const isBeginning = useRef(false);
  const start = useCallback(() => {
    // A second click comes before the first has begun to call.
    if (isBeginning.current) return;
    isBeginning.current = true;
    void prepare()
      .then(startCall)
      .finally(() => (isBeginning.current = false));
  }, [prepare, startCall]);
  const call = useMemo(() => ({ ...talked, start }), [talked, start]);
  const places = {
    talk: isBrowserVoice ? spoken : { nodeId: talked.state.transcript.nodeId, visited: talked.state.visited },
    type: chat,
    simulate: { nodeId: simulation.run.transcript.nodeId, visited: simulation.run.visited },
  };
  const { nodeId, visited } = places[mode];
  return { mode, setMode, isBrowserVoice, setIsBrowserVoice, call, chat, spoken, simulation, nodeId, visited };
}
