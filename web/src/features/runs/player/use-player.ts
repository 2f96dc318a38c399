/** The recording as it plays: where it is, how fast, and its loudness once it has been read. */

import { useCallback, useEffect, useRef, useState } from "react";
import { PeakReader, type Peaks } from "../../../lib/audio/wav-peaks";

export interface Player {
  audio: React.RefObject<HTMLAudioElement | null>;
  seconds: number;
  total: number;
  isPlaying: boolean;
  peaks: Peaks | null;
  hasFailed: boolean;
  seek: (seconds: number) => void;
  toggle: () => void;
}

/** `startAt`: seconds from which it plays first. */
export function usePlayer(address: string | null, startAt = 0): Player {
  const audio = useRef<HTMLAudioElement | null>(null);
  const [seconds, setSeconds] = useState(0);
  const [length, setLength] = useState(0);
  const [isPlaying, setIsPlaying] = useState(false);
  const { peaks, hasFailed } = usePeaks(address);

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
  return { audio, seconds, total: Math.max(length, peaks?.seconds ?? 0), isPlaying, peaks, hasFailed, seek, toggle };
}

function usePeaks(address: string | null): { peaks: Peaks | null; hasFailed: boolean } {
  const [peaks, setPeaks] = useState<Peaks | null>(null);
  const [hasFailed, setHasFailed] = useState(false);
  useEffect(() => {
    setPeaks(null);
    setHasFailed(false);
    if (address === null) return;
    const leaving = new AbortController();
    readPeaks(address, leaving.signal).then(
      (read) => (read === null ? setHasFailed(true) : setPeaks(read)),
      () => leaving.signal.aborted || setHasFailed(true),
    );
    return () => leaving.abort();
  }, [address]);
  return { peaks, hasFailed };
}

async function readPeaks(address: string, signal: AbortSignal): Promise<Peaks | null> {
  const response = await fetch(address, { signal });
  if (!response.ok || response.body === null) return null;
  const reader = response.body.getReader();
  const peaks = new PeakReader();
  for (let piece = await reader.read(); !piece.done && peaks.isReadable; piece = await reader.read())
    peaks.push(piece.value);
  await reader.cancel();
  return peaks.finish();
}
