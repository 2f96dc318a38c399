import { describe, expect, it } from "vitest";
import { localPath, socketAddress } from "./address";

const page = "https://calls.example/agents/3";

describe("an address of the API", () => {
  it("is reached the way the page was", () => {
    expect(localPath("http://tunnel.example/api/v1/workflow/1/runs/2/recording?link=abc", page)).toBe(
      "/api/v1/workflow/1/runs/2/recording?link=abc",
    );
    expect(localPath("/api/v1/x", page)).toBe("/api/v1/x");
  });
});

describe("the address of the media socket", () => {
  it("keeps its path and token and takes the page's host and safety", () => {
    expect(socketAddress("ws://tunnel.example/api/v1/browser/media/7?token=abc", "abc", page)).toBe(
      "wss://calls.example/api/v1/browser/media/7?token=abc",
    );
    expect(socketAddress("ws://tunnel.example/m/7", "t", "http://127.0.0.1:8480/")).toBe(
      "ws://127.0.0.1:8480/m/7?token=t",
    );
  });

  it("is completed from a bare path", () => {
    expect(socketAddress("/api/v1/browser/media/7", "a/b", page)).toBe(
      "wss://calls.example/api/v1/browser/media/7?token=a%2Fb",
    );
  });
});
