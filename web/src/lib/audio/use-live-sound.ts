/** Lets somebody listen to a call while it goes on. */

import { useCallback, useEffect, useRef, useState } from "react";
import { errorFrom, fetchOrFail } from "../api/errors";
import { currentToken } from "../api/session";
import { GrowingRecording, type RangeAnswer, type SoundPart } from "./growing-recording";

/** `waiting`: nothing to hear yet; `silent`: nothing for so long that there is likely to be nothing. */
export type LiveSoundState = "off" | "waiting" | "silent" | "playing" | "failed";

const READ_EVERY_MS = 500;
/** The server writes more than once a second: so much is kept back that no gap is heard. */
const DELAY_S = 1.2;
/** What piles up while a tab sleeps is left out. */
const MAX_BEHIND_S = 4;
const SILENT_AFTER_MS = 12_000;

export function useLiveSound(agentId: number, runId: number | null, isLive: boolean) {
  const [state, setState] = useState<LiveSoundState>("off");
  const stopping = useRef<(() => void) | null>(null);
  const stop = useCallback(() => stopping.current?.(), []);
  useEffect(() => stop, [stop, runId]);
  useEffect(() => {
    // What was said last is still on its way.
    if (isLive) return;
    const late = window.setTimeout(stop, 1000 * (DELAY_S + 1));
    return () => window.clearTimeout(late);
  }, [isLive, stop]);
  const listen = useCallback(() => {
    if (runId === null) return;
    stop();
    const leaving = new AbortController();
    const speaker = new Speaker();
    const end = (last: LiveSoundState) => {
      if (leaving.signal.aborted) return;
      leaving.abort();
      speaker.close();
      stopping.current = null;
      setState(last);
    };
    stopping.current = () => end("off");
    setState("waiting");
    void follow(`/api/v1/workflow/${agentId}/runs/${runId}/recording`, speaker, leaving.signal, setState).catch(() =>
      end("failed"),
    );
  }, [agentId, runId, stop]);
  return { state, listen, stop };
}

async function follow(path: string, speaker: Speaker, signal: AbortSignal, onState: (state: LiveSoundState) => void) {
  const recording = new GrowingRecording((range) => readRange(path, range, signal));
  const since = Date.now();
  let hasSound = false;
  while (!signal.aborted) {
    const part = await recording.readMore();
    if (part !== null) {
      speaker.play(part);
      if (!hasSound) onState("playing");
      hasSound = true;
    } else if (!hasSound && Date.now() - since > SILENT_AFTER_MS) onState("silent");
    await new Promise((resolve) => window.setTimeout(resolve, READ_EVERY_MS));
  }
}

async function readRange(path: string, range: string, signal: AbortSignal): Promise<RangeAnswer | null> {
  const headers = { Range: range, Authorization: `Bearer ${currentToken() ?? ""}` };
  const response = await fetchOrFail(new Request(path, { headers, signal, cache: "no-store" }));
  // Not recorded yet, and nothing new since the last read.
  if (response.status === 404 || response.status === 416) return null;
  if (!response.ok) throw errorFrom(response.status, await response.json().catch(() => null));
  const bytes = await response.arrayBuffer();
  const total = Number(response.headers.get("Content-Range")?.split("/")[1] ?? bytes.byteLength);
  return { bytes, total };
}

/** Plays parts one after another, both sides in both ears. */
class Speaker {
  readonly #context = new AudioContext();
  #next = 0;

  play({ sampleRate, sides }: SoundPart): void {
    const length = sides[0]?.length ?? 0;
    const now = this.#context.currentTime;
    if (this.#next < now) this.#next = now + DELAY_S;
    if (this.#next - now > MAX_BEHIND_S || length === 0) return;
    const buffer = this.#context.createBuffer(1, length, sampleRate);
    const mixed = buffer.getChannelData(0);
    for (const side of sides) for (let i = 0; i < length; i++) mixed[i] = (mixed[i] ?? 0) + (side[i] ?? 0);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    source.start(this.#next);
    this.#next += buffer.duration;
  }

  close(): void {
    void this.#context.close();
  }
}
