/** The line of a browser call: its socket, and after a break the next one, with the token that the server gave for it. */

import { CallSocket, type CallSocketHandlers } from "./call-socket";
import type { ClientMessage } from "./wire";

/** A server that lost only the line waits for six seconds; one that takes over from another may need some more. */
const GIVE_UP_MS = 10_000;
const RETRY_MS = 400;

interface CallLineHandlers extends Omit<CallSocketHandlers, "onClose"> {
  onBreak: () => void;
  onClose: (reason: string) => void;
}

type OpenSocket = (url: string, handlers: CallSocketHandlers) => Pick<CallSocket, keyof CallSocket>;

export class CallLine {
  private socket: Pick<CallSocket, keyof CallSocket>;
  /** Works once, for the next socket. */
  private token: string | null = null;
  private brokenAt: number | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  constructor(
    private readonly url: string,
    private readonly handlers: CallLineHandlers,
    private readonly openSocket: OpenSocket = (address, callbacks) => new CallSocket(address, callbacks),
  ) {
    this.socket = this.connect(url);
  }

  get isOpen(): boolean {
    return this.socket.isOpen;
  }

  get isBroken(): boolean {
    return this.brokenAt !== null;
  }

  send(message: ClientMessage): void {
    this.socket.send(message);
  }

  sendAudio(pcm: ArrayBuffer): void {
    this.socket.sendAudio(pcm);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }

  private connect(url: string): Pick<CallSocket, keyof CallSocket> {
    return this.openSocket(url, {
      onOpen: () => {
        this.token = this.brokenAt = null;
        this.handlers.onOpen();
      },
      onMessage: (message) => {
        if (message.type === "reconnect") this.token = message.token;
        else this.handlers.onMessage(message);
      },
      onAudio: this.handlers.onAudio,
      onClose: (reason, isBroken) => {
        if (!isBroken || !this.tryAgain()) this.handlers.onClose(reason);
      },
    });
  }

  /** False when the call cannot go on. */
  private tryAgain(): boolean {
    if (this.isClosed || this.token === null) return false;
    const address = new URL(this.url);
    address.searchParams.set("token", this.token);
    if (this.brokenAt === null) {
      this.brokenAt = Date.now();
      this.handlers.onBreak();
    } else if (Date.now() - this.brokenAt > GIVE_UP_MS) return false;
    this.timer = setTimeout(() => {
      this.socket = this.connect(address.href);
    }, RETRY_MS);
    return true;
  }
}
