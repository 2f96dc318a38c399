/** Plays the beginning of a recording once, for those who asked to hear one and not to study it. */

import { useEffect, useRef } from "react";
import type { Player } from "../../../components/runs/player/use-player";

export const FIRST_PART_S = 25;
/** A recording that is further than this beyond the end was moved there. */
const JUMP_S = 1;

/** `isWanted`: by the link that led here. What a browser does not let play by itself waits for the button. */
export function useFirstPart({ audio, seconds, isPlaying }: Player, isWanted: boolean): void {
  const isCut = useRef(false);
  useEffect(() => {
    const element = audio.current;
    if (!isWanted || element === null) return;
    isCut.current = true;
    void element.play().catch(() => undefined);
  }, [audio, isWanted]);
  useEffect(() => {
    if (!isCut.current || !isPlaying || seconds < FIRST_PART_S) return;
    isCut.current = false;
    if (seconds < FIRST_PART_S + JUMP_S) audio.current?.pause();
  }, [audio, isPlaying, seconds]);
}
