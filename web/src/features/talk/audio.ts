/** Microphone and loudspeaker of a browser call, behind one small object. */

import captureUrl from "../../lib/audio/capture.worklet.ts?worker&url";
import playbackUrl from "../../lib/audio/playback.worklet.ts?worker&url";
import type { FromCapture, FromPlayback, ToPlayback } from "../../lib/audio/messages";

export class MicrophoneError extends Error {
  constructor(readonly reason: "insecure" | "denied" | "missing" | "busy") {
    super(reason);
  }
}

/** Asks for the microphone, with echo cancellation, or the agent would interrupt itself. */
export async function openMicrophone(): Promise<MediaStream> {
  // Browsers have neither on a page that came without encryption.
  if (!("mediaDevices" in navigator) || typeof AudioWorkletNode === "undefined") throw new MicrophoneError("insecure");
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotFoundError" || name === "OverconstrainedError") throw new MicrophoneError("missing");
    if (name === "NotReadableError" || name === "AbortError") throw new MicrophoneError("busy");
    throw new MicrophoneError("denied");
  }
}

export interface AudioHandlers {
  onFrame: (pcm: ArrayBuffer) => void;
  onMark: (name: string) => void;
  onLevels: (levels: { caller?: number; agent?: number }) => void;
}

export class CallAudio {
  isMuted = false;

  private constructor(
    private readonly context: AudioContext,
    private readonly microphone: MediaStream,
    private readonly playback: AudioWorkletNode,
  ) {}

  /** Wires microphone → capture worklet and playback worklet → loudspeaker. `context` comes from the click. */
  static async open(context: AudioContext, microphone: MediaStream, handlers: AudioHandlers): Promise<CallAudio> {
    try {
      await Promise.all([context.audioWorklet.addModule(captureUrl), context.audioWorklet.addModule(playbackUrl)]);
    } catch {
      // The browser's own sentence is about a script at an address.
      throw new Error("The page's audio could not be loaded.");
    }
    await context.resume();
    const capture = new AudioWorkletNode(context, "offhook-capture", { numberOfInputs: 1, numberOfOutputs: 0 });
    const playback = new AudioWorkletNode(context, "offhook-playback", { numberOfInputs: 0, outputChannelCount: [1] });
    const audio = new CallAudio(context, microphone, playback);
    capture.port.onmessage = (message: MessageEvent<FromCapture>) => {
      const { pcm, level } = message.data;
      // Muted means silence, not a gap: the far end's clock goes on.
      handlers.onFrame(audio.isMuted ? new ArrayBuffer(pcm.byteLength) : pcm);
      handlers.onLevels({ caller: audio.isMuted ? 0 : level });
    };
    playback.port.onmessage = (message: MessageEvent<FromPlayback>) => {
      if (message.data.type === "mark") handlers.onMark(message.data.name);
      else handlers.onLevels({ agent: message.data.level });
    };
    context.createMediaStreamSource(microphone).connect(capture);
    playback.connect(context.destination);
    return audio;
  }

  play(pcm: ArrayBuffer): void {
    this.send({ type: "audio", pcm }, [pcm]);
  }

  mark(name: string): void {
    this.send({ type: "mark", name });
  }

  clear(): void {
    this.send({ type: "clear" });
  }

  async close(): Promise<void> {
    this.microphone.getTracks().forEach((track) => track.stop());
    if (this.context.state !== "closed") await this.context.close();
  }

  private send(message: ToPlayback, transfer: Transferable[] = []): void {
    this.playback.port.postMessage(message, transfer);
  }
}
