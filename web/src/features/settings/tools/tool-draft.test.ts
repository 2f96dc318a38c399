import { expect, it } from "vitest";
import { definitionOf, draftOf, headersOf, NEW_TOOL } from "./tool-draft";

it("reads headers line by line", () => {
  expect(headersOf("Accept: application/json\n\nX-Time: 10:30\nX-Empty")).toEqual({
    Accept: "application/json",
    "X-Time": "10:30",
    "X-Empty": "",
  });
});

it("keeps what the form does not show", () => {
  const definition = {
    type: "http_api",
    config: {
      url: "https://example.com/a",
      method: "POST",
      response_mapping: { state: "order.state" },
      headers: { Accept: "text/plain" },
    },
  };
  const draft = draftOf({ name: "Order", description: null, category: "http_api", definition } as never);
  expect(draft).toMatchObject({ url: "https://example.com/a", method: "POST", headers: "Accept: text/plain" });
  expect(definitionOf({ ...draft, url: "https://example.com/b" }, definition)).toMatchObject({
    type: "http_api",
    config: {
      url: "https://example.com/b",
      response_mapping: { state: "order.state" },
      headers: { Accept: "text/plain" },
    },
  });
});

it("has no settings for a calculator, and forgets those of another kind", () => {
  expect(definitionOf({ ...NEW_TOOL, category: "recording", action: "discard" }, undefined)).toEqual({
    type: "recording",
    schema_version: 1,
    config: { action: "discard", messageType: "none" },
  });
  expect(definitionOf({ ...NEW_TOOL, category: "calculator" }, { type: "http_api", config: { url: "x" } })).toEqual({
    type: "calculator",
    schema_version: 1,
  });
});
