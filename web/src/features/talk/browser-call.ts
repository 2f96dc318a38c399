/** One browser call from the click to the hang-up: microphone, run, socket, loudspeaker. */

import { messageOf } from "../../lib/api/errors";
import { createBrowserRun } from "./api";
import { CallAudio, MicrophoneError, openMicrophone } from "./audio";
import { CallLine } from "./call-line";
import type { CallAction, Phase } from "./call-state";
import type { ServerMessage } from "./wire";

/** How long the server may take to say goodbye after we hung up. */
const HANG_UP_GRACE_MS = 4_000;
const HUNG_UP: Phase = { name: "ended", status: "completed", outcome: null, endReason: "caller_hung_up" };

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
  private socket: CallLine | null = null;
  private isOver = false;

  constructor(
    private readonly agentId: number,
    private readonly dispatch: (action: CallAction) => void,
  ) {}

  /** Call from a click: browsers start audio only on a gesture. */
  async start(): Promise<void> {
    this.dispatch({ type: "started" });
    try {
      await this.connect();
    } catch (error) {
      if (error instanceof MicrophoneError) this.finish({ name: "denied", reason: error.reason });
      else this.fail(messageOf(error));
    }
    if (this.isOver) this.release();
  }

  /** Stops between two steps when the call was given up. */
  private async connect(): Promise<void> {
    this.microphone = await openMicrophone();
    if (this.isOver) return;
    this.context = new AudioContext({ latencyHint: "interactive" });
    this.dispatch({ type: "phase", phase: { name: "connecting" } });
    this.audio = await CallAudio.open(this.context, this.microphone, {
      onFrame: (pcm) => this.socket?.sendAudio(pcm),
      onMark: (name) => this.socket?.send({ type: "mark", name }),
      onLevels: (levels) => Object.assign(this.levels, levels),
    });
    const run = await createBrowserRun(this.agentId);
    this.dispatch({ type: "run", runId: run.runId });
    if (this.hasEnded()) return;
    this.socket = new CallLine(run.url, {
      onOpen: () => this.dispatch({ type: "phase", phase: { name: "live" } }),
      onMessage: (message) => this.receive(message),
      onAudio: (pcm) => this.audio?.play(pcm),
      onBreak: () => {
        // What was being said is said again.
        this.audio?.clear();
        this.dispatch({ type: "phase", phase: { name: "reconnecting" } });
      },
      onClose: (reason) => this.fail(reason || "The connection to the server was lost."),
    });
  }

  setMuted(isMuted: boolean): void {
    if (this.audio !== null) this.audio.isMuted = isMuted;
  }

  press(digit: string): void {
    this.socket?.send({ type: "dtmf", digit });
  }

  /** The server answers with how it ended; without an answer the call ends here. */
  hangUp(): void {
    if (this.socket?.isOpen !== true) {
      this.finish(this.socket?.isBroken === true ? HUNG_UP : { name: "idle" });
      return;
    }
    this.socket.send({ type: "hangup" });
    this.audio?.clear();
    window.setTimeout(() => this.finish(HUNG_UP), HANG_UP_GRACE_MS);
  }

  /** The page goes away. */
  dispose(): void {
    if (!this.isOver) this.socket?.send({ type: "hangup" });
    this.isOver = true;
    this.release();
  }

  private receive(message: ServerMessage): void {
    if (this.isOver) return;
    switch (message.type) {
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
        this.finish({
          name: "ended",
          status: message.status,
          outcome: message.outcome,
          endReason: message.endReason,
        });
        break;
      case "error":
        this.fail(message.detail);
        break;
    }
  }

  private fail(message: string): void {
    this.finish({ name: "failed", message });
  }

  private finish(phase: Phase): void {
    if (this.isOver) return;
    this.isOver = true;
    this.dispatch({ type: "phase", phase });
    this.release();
  }

  private hasEnded(): boolean {
    return this.isOver;
  }

  /** Lets go of what is held; what arrives later, because it was asked for before, is let go by the next call. */
  private release(): void {
    this.levels.caller = this.levels.agent = 0;
    this.socket?.close();
    this.microphone?.getTracks().forEach((track) => track.stop());
    if (this.audio !== null) void this.audio.close();
    else if (this.context !== null && this.context.state !== "closed") void this.context.close();
    this.socket = this.microphone = this.audio = this.context = null;
  }
}
