/** A text chat that the browser speaks and hears, as React state. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { browserEar, browserMouth } from "./speech-ports";
import { SpokenChat, type SpokenState } from "./spoken";
import type { Chat } from "./use-chat";

export interface Spoken {
  state: SpokenState;
  start: () => void;
  interrupt: () => void;
  stop: () => void;
}

export function useSpoken(chat: Chat): Spoken {
  const [state, setState] = useState<SpokenState>({ name: "off" });
  const say = useRef(chat.say);
  say.current = chat.say;
  const [spoken] = useState(
    () =>
      new SpokenChat({
        ear: browserEar(navigator.language),
        mouth: browserMouth(navigator.language),
        onState: setState,
        onWords: (text) => say.current(text),
      }),
  );
  useEffect(() => () => spoken.end(), [spoken]);
  const said = useMemo(() => chat.turns.filter((turn) => !turn.isBehind).flatMap((turn) => turn.agent), [chat.turns]);
  useEffect(() => {
    if (!chat.isStarting) spoken.update(said, chat.isOver);
  }, [said, chat.isOver, chat.isStarting, spoken]);
  const { start, end } = chat;
  return {
    state,
    start: useCallback(() => {
      spoken.begin();
      start();
    }, [spoken, start]),
    interrupt: useCallback(() => spoken.interrupt(), [spoken]),
    stop: () => {
      spoken.end();
      end();
    },
  };
}
