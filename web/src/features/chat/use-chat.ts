/** A text chat as React state: start, say, go back and say something else, end. */

import { useCallback, useMemo, useRef, useState } from "react";
import type { ToolCall } from "../../lib/live/live-run";
import { useLiveRun } from "../../lib/live/use-live-run";
import { type TextChat, useChatRequests } from "./api";
import { type ShownTurn, shownTurns, routeOf } from "./turns";

export interface Chat {
  runId: number | null;
  turns: ShownTurn[];
  /** What was sent and is not answered yet. */
  pending: string | null;
  isStarting: boolean;
  isBusy: boolean;
  isOver: boolean;
  isRewound: boolean;
  error: unknown;
  nodeId: string | null;
  visited: string[];
  variables: Record<string, unknown>;
  tools: readonly ToolCall[];
  /** At the step of this id, or where the agent starts. */
  start: (stepId?: string | null) => void;
  say: (text: string, onError?: () => void) => void;
  /** Goes back to the end of this turn; null goes forward again to the last one. */
  rewind: (turnId: string | null) => Promise<void>;
  end: () => void;
}

/** `prepare` runs before a chat begins: what was edited has to be saved first. */
export function useChat(agentId: number, prepare: () => Promise<unknown>): Chat {
  const [chat, setChat] = useState<TextChat | null>(null);
  const { start, say, rewind, end } = useChatRequests(agentId, setChat);
  const [failure, setFailure] = useState<unknown>(null);
  const turns = useMemo(
    () => (chat === null ? [] : shownTurns(chat.session_data.turns, chat.session_data.cursor_turn_id)),
    [chat],
  );
  const route = useMemo(() => routeOf(turns), [turns]);
  const runId = chat?.id ?? null;
  const live = useLiveRun(agentId, runId);
  const isOver = chat?.is_over === true;
  const last = chat?.session_data.turns.filter((_, index) => turns[index]?.isBehind === false).at(-1);
  const [isPreparing, setIsPreparing] = useState(false);
  const isBeginning = useRef(false);
  const begin = useCallback(
    (stepId?: string | null) => {
      // A second click comes before the button shows the first.
      if (isBeginning.current) return;
      isBeginning.current = true;
      setIsPreparing(true);
      [say, rewind, end].forEach((request) => request.reset());
      setFailure(null);
      prepare()
        .then(() => start.mutateAsync(stepId ?? null).catch(() => undefined), setFailure)
        .finally(() => {
          isBeginning.current = false;
          setIsPreparing(false);
        });
    },
    [prepare, start, say, rewind, end],
  );
  return {
    runId,
    turns,
    pending: say.isPending ? say.variables.text : null,
    isStarting: isPreparing || start.isPending,
    isBusy: say.isPending || rewind.isPending,
    isOver,
    isRewound: chat?.session_data.status === "rewound",
    error: failure ?? say.error ?? rewind.error ?? start.error ?? end.error,
    nodeId: isOver ? null : route.nodeId,
    visited: route.visited,
    variables: last?.variables ?? {},
    tools: live.tools,
    start: begin,
    say: (text, onError) => {
      if (runId !== null) say.mutate({ runId, text }, onError === undefined ? {} : { onError });
    },
    rewind: async (turnId) => {
      if (runId !== null) await rewind.mutateAsync({ runId, turnId });
    },
    end: () => {
      if (runId !== null) end.mutate(runId);
    },
  };
}
