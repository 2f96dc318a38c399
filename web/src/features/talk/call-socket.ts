/** The socket of a browser call: messages and sound, both ways. */

import { type ClientMessage, type ServerMessage, parseMessage } from "./wire";

/** A stalled network must not grow a queue of old speech: half a second is the most that is worth sending. */
const MAX_BUFFERED_BYTES = 16_000;

export interface CallSocketHandlers {
  onOpen: () => void;
  onMessage: (message: ServerMessage) => void;
  onAudio: (pcm: ArrayBuffer) => void;
  /** `isBroken`: neither side closed it. */
  onClose: (reason: string, isBroken: boolean) => void;
}

/** What browsers report when a connection ended without a word. */
const BROKEN = 1006;

export class CallSocket {
  private readonly socket: WebSocket;

  constructor(url: string, handlers: CallSocketHandlers) {
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = handlers.onOpen;
    this.socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data !== "string") {
        handlers.onAudio(data);
        return;
      }
      const message = parseMessage(data);
      if (message !== null) handlers.onMessage(message);
    };
    this.socket.onclose = (event) => handlers.onClose(event.reason, event.code === BROKEN);
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(message: ClientMessage): void {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }

  sendAudio(pcm: ArrayBuffer): void {
    if (this.isOpen && this.socket.bufferedAmount < MAX_BUFFERED_BYTES) this.socket.send(pcm);
  }

  close(): void {
    this.socket.close();
  }
}
