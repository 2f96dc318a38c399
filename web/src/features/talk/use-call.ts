/** A browser call as React state. */

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { BrowserCall, type Levels } from "./browser-call";
import { type CallState, IDLE, isOver, reduce } from "./call-state";

export interface Call {
  state: CallState;
  isMuted: boolean;
  levels: () => Levels;
  start: () => void;
  hangUp: () => void;
  setMuted: (isMuted: boolean) => void;
  press: (digit: string) => void;
}

const SILENCE: Levels = { caller: 0, agent: 0 };

export function useCall(agentId: number): Call {
  const [state, dispatch] = useReducer(reduce, IDLE);
  const [isMuted, setMutedState] = useState(false);
  const call = useRef<BrowserCall | null>(null);
  const queries = useQueryClient();

  useEffect(
    () => () => {
      call.current?.dispose();
      call.current = null;
    },
    [agentId],
  );
  // The list of runs changes when this one begins and when it ends.
  const isShown = state.phase.name === "live" || isOver(state.phase);
  useEffect(() => {
    if (isShown) void queries.invalidateQueries({ queryKey: ["runs"] });
  }, [isShown, state.phase.name, queries]);

  const start = useCallback(() => {
    call.current?.dispose();
    call.current = new BrowserCall(agentId, dispatch);
    setMutedState(false);
    void call.current.start();
  }, [agentId]);
  const setMuted = useCallback((value: boolean) => {
    setMutedState(value);
    call.current?.setMuted(value);
  }, []);
  return {
    state,
    isMuted,
    start,
    setMuted,
    levels: useCallback(() => call.current?.levels ?? SILENCE, []),
    hangUp: useCallback(() => call.current?.hangUp(), []),
    press: useCallback((digit: string) => call.current?.press(digit), []),
  };
}
