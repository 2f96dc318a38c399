/** One browser call from the click to the hang-up: microphone, run, socket, loudspeaker. */

import { messageOf } from "../../lib/api/errors";
import { createBrowserRun } from "./api";
import { CallAudio, MicrophoneError, openMicrophone } from "./audio";
import type { CallAction } from "./call-state";
import { type ClientMessage, parseMessage } from "./wire";

/** How long the server may take to say goodbye after we hung up. */
const HANG_UP_GRACE_MS = 4_000;

export interface Levels {
  caller: number;
  agent: number;
}

export class BrowserCall {
  /** Read by the level meter on every animation frame; not state, so that nothing renders 50 times a second. */
  readonly levels: Levels = { caller: 0, agent: 0 };
  private audio: CallAudio | null = null;
  private microphone: MediaStream | null = null;
  private context: AudioContext | null = null;
  private socket: WebSocket | null = null;
  private isOver = false;

  constructor(
    private readonly agentId: number,
    private readonly dispatch: (action: CallAction) => void,
  ) {}

  /** Call from a click: browsers start audio only on a gesture. */
  async start(): Promise<void> {
    this.dispatch({ type: "started" });
    try {
      this.microphone = await openMicrophone();
      if (this.isOver) return this.release();
      this.context = new AudioContext({ latencyHint: "interactive" });
      this.dispatch({ type: "phase", phase: { name: "connecting" } });
      this.audio = await CallAudio.open(this.context, this.microphone, {
        onFrame: (pcm) => this.sendAudio(pcm),
        onMark: (name) => this.send({ type: "mark", name }),
        onLevels: (levels) => Object.assign(this.levels, levels),
      });
      const run = await createBrowserRun(this.agentId);
      this.dispatch({ type: "run", runId: run.runId });
      if (this.isOver) return this.release();
      this.connect(run.url);
    } catch (error) {
      if (this.isOver) return this.release();
      if (error instanceof MicrophoneError)
        this.dispatch({ type: "phase", phase: { name: "denied", reason: error.reason } });
      else this.fail(messageOf(error));
      this.release();
    }
  }

  setMuted(isMuted: boolean): void {
    if (this.audio !== null) this.audio.isMuted = isMuted;
  }

  press(digit: string): void {
    this.send({ type: "dtmf", digit });
  }

  /** The server answers with how it ended; without an answer the call ends here. */
  hangUp(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) {
      this.cancel();
      return;
    }
    this.send({ type: "hangup" });
    this.audio?.clear();
    window.setTimeout(() => this.end("completed", null, "caller_hung_up"), HANG_UP_GRACE_MS);
  }

  private cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.dispatch({ type: "phase", phase: { name: "idle" } });
    this.release();
  }

  /** The page goes away. */
  dispose(): void {
    if (!this.isOver) this.send({ type: "hangup" });
    this.isOver = true;
    this.release();
  }

  private connect(url: string): void {
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.dispatch({ type: "phase", phase: { name: "live" } });
    socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => {
      if (typeof message.data === "string") this.take(message.data);
      else this.audio?.play(message.data);
    };
    socket.onclose = (event) => this.fail(event.reason || "The connection to the server was lost.");
  }

  private take(raw: string): void {
    const message = this.isOver ? null : parseMessage(raw);
    switch (message?.type) {
      case "event":
        this.dispatch({ type: "event", event: message.event });
        break;
      case "clear":
        this.audio?.clear();
        break;
      case "mark":
        this.audio?.mark(message.name);
        break;
      case "ended":
        this.end(message.status, message.outcome, message.endReason);
        break;
      case "error":
        this.fail(message.detail);
        break;
    }
  }

  private end(status: string, outcome: string | null, endReason: string | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.dispatch({ type: "phase", phase: { name: "ended", status, outcome, endReason } });
    this.release();
  }

  private fail(message: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.dispatch({ type: "phase", phase: { name: "failed", message } });
    this.release();
  }

  private release(): void {
    this.levels.caller = this.levels.agent = 0;
    this.socket?.close();
    this.microphone?.getTracks().forEach((track) => track.stop());
    if (this.audio !== null) void this.audio.close();
    else if (this.context !== null && this.context.state !== "closed") void this.context.close();
  }

  private send(message: ClientMessage): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private sendAudio(pcm: ArrayBuffer): void {
    // A stalled network must not grow a queue of old speech: half a second (16 kB) is the most that is worth sending.
    if (this.socket?.readyState === WebSocket.OPEN && this.socket.bufferedAmount < 16_000) this.socket.send(pcm);
  }
}
