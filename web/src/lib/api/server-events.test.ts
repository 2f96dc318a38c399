import { expect, it } from "vitest";
import { splitEvents } from "./server-events";

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
