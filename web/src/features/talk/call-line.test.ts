import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallLine } from "./call-line";
import type { CallSocketHandlers } from "./call-socket";
import type { ServerMessage } from "./wire";

const ADDRESS = "wss://voice.example.org/api/v1/browser/media/7?token=first";

interface Opened {
  url: string;
  handlers: CallSocketHandlers;
  close: () => void;
}

function openLine() {
  const sockets: Opened[] = [];
  const told: string[] = [];
  const line = new CallLine(
    ADDRESS,
    {
      onOpen: () => told.push("open"),
      onMessage: (message: ServerMessage) => told.push(message.type),
      onAudio: () => told.push("audio"),
      onBreak: () => told.push("break"),
      onClose: (reason) => told.push(`closed: ${reason}`),
    },
    (url, handlers) => {
      const close = vi.fn();
      sockets.push({ url, handlers, close });
      return { isOpen: true, send: vi.fn(), sendAudio: vi.fn(), close };
    },
  );
  const last = () => sockets.at(-1)?.handlers;
  return { line, sockets, told, last };
}

describe("the line of a browser call", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is connected again with the token of the server, each of which works once", () => {
    const { sockets, told, last } = openLine();
    last()?.onOpen();
    last()?.onMessage({ type: "reconnect", token: "second" });
    last()?.onClose("", true);
    vi.advanceTimersByTime(1_000);
    expect(sockets.map(({ url }) => new URL(url).searchParams.get("token"))).toEqual(["first", "second"]);
    last()?.onOpen();
    last()?.onMessage({ type: "clear" });
    last()?.onClose("", true);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(2);
    expect(told).toEqual(["open", "break", "open", "clear", "closed: "]);
  });

  it("gives up when no server takes the call", () => {
    const { line, sockets, told, last } = openLine();
    last()?.onOpen();
    last()?.onMessage({ type: "reconnect", token: "second" });
    for (let attempt = 0; attempt < 100; attempt += 1) {
      last()?.onClose("", true);
      if (told.includes("closed: ")) break;
      vi.advanceTimersByTime(1_000);
    }
    expect(told).toEqual(["open", "break", "closed: "]);
    expect(line.isBroken).toBe(true);
    expect(sockets.length).toBeGreaterThan(5);
    expect(sockets.length).toBeLessThan(20);
  });

  it("stays closed when the server ended the call, when nothing was promised, and after we hung up", () => {
    const ended = openLine();
    ended.last()?.onMessage({ type: "reconnect", token: "second" });
    ended.last()?.onClose("the call is over", false);
    const unpromised = openLine();
    unpromised.last()?.onClose("", true);
    const hungUp = openLine();
    hungUp.last()?.onMessage({ type: "reconnect", token: "second" });
    hungUp.last()?.onClose("", true);
    hungUp.line.close();
    vi.advanceTimersByTime(60_000);
    expect(ended.told).toEqual(["closed: the call is over"]);
    expect(unpromised.told).toEqual(["closed: "]);
    expect([ended, unpromised, hungUp].map(({ sockets }) => sockets.length)).toEqual([1, 1, 1]);
  });
});
