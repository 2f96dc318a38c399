/** What jsdom lacks and the page needs. The files that a worker runs share its document, so this is done once. */

import { vi } from "vitest";
import { network } from "./server";

const NativeRequest = globalThis.Request;
/** Kept, as a request that follows an answer can outlive the document. */
const BASE = document.baseURI;

/** Addresses of requests are those of the page's own server. */
class PageRequest extends NativeRequest {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    super(typeof input === "string" ? new URL(input, BASE) : input, init);
  }
}

class NoObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

vi.stubGlobal("Request", PageRequest);
vi.stubGlobal("fetch", (request: Request) => network.fetch(request));
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
