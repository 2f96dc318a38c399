/** What jsdom lacks and the page needs. */

import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";
import { forgetQueries } from "./queries";
import { network } from "./server";

// A loaded machine renders a page with its lists in seconds.
configure({ asyncUtilTimeout: 15_000 });

const NativeRequest = globalThis.Request;
/** Kept: a request that follows an answer can outlive the document of its test. */
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

afterEach(async () => {
  cleanup();
  forgetQueries();
  // What is still under way would find no document once this file's is gone. A request that is held is never answered.
  await Promise.race([Promise.allSettled(network.pending), new Promise((resolve) => setTimeout(resolve, 100))]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  network.pending.clear();
  localStorage.clear();
});
