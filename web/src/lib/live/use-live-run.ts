/** A run's events as they come, as React state. */

import { useEffect, useReducer } from "react";
import { EMPTY_RUN, type LiveRun, type NumberedEvent, finishRun, applyRunEvent } from "./live-run";
import { type ServerEvent, listenToEvents, waitAfter } from "../api/server-events";

/** After a broken connection. */
const AGAIN_MS = 1_500;

type Action =
  { type: "begun" } | { type: "event"; event: NumberedEvent } | { type: "ended"; ended: NonNullable<LiveRun["ended"]> };

function reduce(run: LiveRun, action: Action): LiveRun {
  switch (action.type) {
    case "begun":
      return EMPTY_RUN;
    case "event":
      return applyRunEvent(run, action.event);
    case "ended":
      return finishRun(run, action.ended);
  }
}

export function useLiveRun(agentId: number, runId: number | null): LiveRun {
  const [run, dispatch] = useReducer(reduce, EMPTY_RUN);
  useEffect(() => {
    dispatch({ type: "begun" });
    if (runId === null) return;
    const stop = new AbortController();
    let seq = 0;
    let isOver = false;
    const take = ({ name, data }: ServerEvent) => {
      const content = JSON.parse(data) as NumberedEvent & {
        status?: string;
        outcome?: string | null;
        end_reason?: string | null;
      };
      if (name === "ended") {
        isOver = true;
        dispatch({
          type: "ended",
          ended: {
            status: content.status ?? "completed",
            outcome: content.outcome ?? null,
            endReason: content.end_reason ?? null,
          },
        });
        return;
      }
      seq = Math.max(seq, content.seq ?? 0);
      dispatch({ type: "event", event: content });
    };
    const isDone = () => isOver || stop.signal.aborted;
    const go = async () => {
      while (!isDone()) {
        let wait: number | null = AGAIN_MS;
        try {
          await listenToEvents(`/api/v1/workflow/${agentId}/runs/${runId}/events?after=${seq}`, stop.signal, take);
        } catch (error) {
          wait = waitAfter(error, AGAIN_MS);
        }
        if (wait === null) return;
        if (!isDone()) await new Promise((resolve) => setTimeout(resolve, wait));
      }
    };
    void go();
    return () => stop.abort();
  }, [agentId, runId]);
  return run;
}
