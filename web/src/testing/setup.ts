/** What jsdom lacks and the page needs. */

import { cleanup } from "@testing-library/react";
import { afterEach, vi } from "vitest";
import { network } from "./server";

const NativeRequest = globalThis.Request;

/** Addresses of requests are those of the page's own server. */
class PageRequest extends NativeRequest {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(typeof input === "string" ? new URL(input, document.baseURI) : input, init);
  }
}

class NoObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

vi.stubGlobal("Request", PageRequest);
vi.stubGlobal("fetch", (request: Request) => network.server.fetch(request));
vi.stubGlobal("ResizeObserver", NoObserver);
vi.stubGlobal("matchMedia", (media: string) => ({
  media,
  matches: false,
  addEventListener: () => {},
  removeEventListener: () => {},
}));
vi.stubGlobal("scrollTo", () => {});
Object.defineProperty(document, "fonts", { value: { addEventListener: () => {}, removeEventListener: () => {} } });
Element.prototype.scrollIntoView = () => {};

afterEach(() => {
  cleanup();
  localStorage.clear();
});
