/** The newest play of the open agent, and how to order another one. */

import { useEffect, useState } from "react";
import { messageOf } from "../../../lib/api/errors";
import { useRefresh } from "../api";
import { useEditorContext } from "../state/editor";
import type { AnswerChoice } from "./answers";
import { isOpen, type Play, useNewestPlay, useOrderPlay } from "./api";

export interface Plays {
  play: Play | undefined;
  error: Error | null;
  /** Runs these scenarios, or all, with the draft or with a version by its number; as is chosen, or as is given. */
  run: (names: string[], version?: number, how?: PlayChoice) => void;
  choice: PlayChoice;
  choose: (part: Partial<PlayChoice>) => void;
}

export interface PlayChoice {
  /** As whole calls, not as text. */
  hasSound: boolean;
  answers: AnswerChoice;
  /** Of what models cost in a run; undefined for the default. */
  budgetCents?: number | undefined;
}

/** When a play is over, what came of it is fetched. */
export function usePlays(): Plays {
  const { agent, flush } = useEditorContext();
  const refresh = useRefresh(agent.id);
  const order = useOrderPlay(agent.id);
  const play = useNewestPlay(agent.id).data?.[0];
  const [choice, setChoice] = useState<PlayChoice>({ hasSound: false, answers: "built-in" });
  const [problem, setProblem] = useState<Error | null>(null);
  const followed = isOpen(play) ? play?.id : undefined;
  useEffect(() => {
    if (followed === undefined) return;
    return () => void refresh();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [followed]);
  const run = (names: string[], version?: number, how = choice) => {
    setProblem(null);
    flush()
      .then(() => order.mutateAsync({ names, ...how, version }))
      .catch((error: unknown) => setProblem(error instanceof Error ? error : new Error(messageOf(error))));
  };
  const choose = (part: Partial<PlayChoice>) => setChoice({ ...choice, ...part });
  return { play, error: problem, run, choice, choose };
}
