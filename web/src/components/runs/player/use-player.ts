/** The recording as it plays: where it is, and how long it is. */

import { useCallback, useEffect, useRef, useState } from "react";

export interface Player {
  audio: React.RefObject<HTMLAudioElement | null>;
  seconds: number;
  total: number;
  isPlaying: boolean;
  seek: (seconds: number) => void;
  toggle: () => void;
}

/** `startAt`: seconds from which it plays first. */
export function usePlayer(address: string | null, startAt = 0): Player {
  const audio = useRef<HTMLAudioElement | null>(null);
  const [seconds, setSeconds] = useState(0);
  const [length, setLength] = useState(0);
  const [isPlaying, setIsPlaying] = useState(false);

  useEffect(() => {
    const element = audio.current;
    if (element === null) return;
    let frame = 0;
    const follow = () => {
      setSeconds(element.currentTime);
      if (!element.paused) frame = requestAnimationFrame(follow);
    };
    const changed = () => {
      setIsPlaying(!element.paused);
      cancelAnimationFrame(frame);
      follow();
    };
    const measured = () => setLength(Number.isFinite(element.duration) ? element.duration : 0);
    const names = ["play", "pause", "ended", "seeked"];
    names.forEach((name) => element.addEventListener(name, changed));
    element.addEventListener("durationchange", measured);
    measured();
    if (startAt > 0) {
      element.currentTime = startAt;
      setSeconds(startAt);
    }
    return () => {
      cancelAnimationFrame(frame);
      names.forEach((name) => element.removeEventListener(name, changed));
      element.removeEventListener("durationchange", measured);
    };
  }, [address, startAt]);

  const seek = useCallback((to: number) => {
    const element = audio.current;
    if (element === null) return;
    element.currentTime = Math.max(0, to);
    setSeconds(Math.max(0, to));
  }, []);
  const toggle = useCallback(() => {
    const element = audio.current;
    if (element === null) return;
    if (element.paused) void element.play().catch(() => undefined);
    else element.pause();
  }, []);
  return { audio, seconds, total: length, isPlaying, seek, toggle };
}
