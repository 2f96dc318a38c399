/** Lets the server speak a sentence in a voice, and plays it. */

import { useCallback, useEffect, useRef, useState } from "react";
import { api, unwrap } from "../api/client";
import { messageOf, formError } from "../api/errors";
import { notifyError } from "../ui/notifications";
import type { Schema } from "../api/types";

export type Preview = "idle" | "loading" | "playing";

export function usePreview() {
  const [state, setState] = useState<Preview>("idle");
  const stopping = useRef<(() => void) | null>(null);
  const stop = useCallback(() => stopping.current?.(), []);
  useEffect(() => stop, [stop]);
  const play = useCallback(
    async (tts: Schema<"TtsService">) => {
      stop();
      const request = new AbortController();
      const sound = new Audio();
      const end = () => {
        request.abort();
        sound.pause();
        URL.revokeObjectURL(sound.src);
        if (stopping.current !== end) return;
        stopping.current = null;
        setState("idle");
      };
      stopping.current = end;
      sound.onended = end;
      setState("loading");
      try {
        sound.src = URL.createObjectURL(await spoken(tts, request.signal));
        await sound.play();
        if (!request.signal.aborted) setState("playing");
      } catch (error) {
        if (!request.signal.aborted) notifyError(new Error(formError(error, []) ?? messageOf(error)));
        end();
      }
    },
    [stop],
  );
  return { state, play, stop };
}

async function spoken(tts: Schema<"TtsService">, signal: AbortSignal): Promise<Blob> {
  const body = { tts } as Schema<"VoicePreviewRequest">;
  const sound = await unwrap(
    api.POST("/api/v1/organizations/model-configurations/v2/voice-preview", { body, parseAs: "blob", signal }),
  );
  return sound;
}
