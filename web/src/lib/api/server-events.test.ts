import { expect, it } from "vitest";
import { ApiError, ConnectionError } from "./errors";
import { splitEvents, waitAfter } from "./server-events";

it("takes whole events and keeps the beginning of the next", () => {
  const { events, rest } = splitEvents(
    'event: progress\ndata: {"a": 1}\n\n: still here\n\nid: 4\r\ndata: x\r\ndata: y\r\n\r\nevent: en',
  );
  expect(events).toEqual([
    { name: "progress", data: '{"a": 1}' },
    { name: "message", data: "x\ny" },
  ]);
  expect(rest).toBe("event: en");
});

it.each([
  [new ConnectionError(), 1_500],
  [new ApiError(503, "unavailable", "The server is starting."), 1_500],
  [new ApiError(429, "too_many_streams", "Your organization has too many event streams open."), 15_000],
  [new ApiError(404, "not_found", "There is no such run."), null],
])("listens again after %s in %s ms", (error, expected) => {
  expect(waitAfter(error, 1_500)).toBe(expected);
});
