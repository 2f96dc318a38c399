import { expect, it } from "vitest";
import { conversationTurns } from "./turns";

const EVENTS = [
  { type: "node_entered", at_ms: 0, data: { node_id: "ask", name: "Ask" } },
  { type: "agent_said", at_ms: 900, data: { text: "Hello, which order?" } },
  { type: "caller_not_understood", at_ms: 3000, data: { start_s: 2, end_s: 2.8 } },
  { type: "agent_said", at_ms: 4000, data: { text: "Sorry?" } },
  { type: "caller_said", at_ms: 6000, data: { text: "Order 4711", start_s: 5, end_s: 6 } },
  { type: "tool_called", at_ms: 6100, data: { id: "t1", name: "find_order", arguments: { number: "4711" } } },
  { type: "node_entered", at_ms: 6500, data: { node_id: "tell", name: "Tell" } },
  {
    type: "tool_answered",
    at_ms: 6900,
    data: { id: "t1", name: "find_order", ok: true, result: { city: "Bonn" }, ms: 800 },
  },
  {
    type: "turn_timed",
    at_ms: 7200,
    data: { caller_stopped: 6, first_token: 6.9, first_frame: 7.2, response_ms: 1200 },
  },
  { type: "agent_said", at_ms: 8000, data: { text: "It is in Bonn.", interrupted: true } },
];

it("joins what was heard with its answer, its tools and its times", () => {
  const [missed, ordered, ...rest] = conversationTurns(EVENTS);
  expect(rest).toEqual([]);
  expect(missed).toMatchObject({ heard: null, atMs: 2000, endMs: 2800, answer: "Sorry?", step: "Ask", timing: null });
  expect(ordered).toMatchObject({ heard: "Order 4711", answer: "It is in Bonn.", nodeId: "ask", wasInterrupted: true });
  expect(ordered?.timing?.responseMs).toBe(1200);
  expect(ordered?.tools).toEqual([
    { id: "t1", name: "find_order", arguments: { number: "4711" }, isOk: true, answer: '{"city":"Bonn"}', ms: 800 },
  ]);
});

it("has the same times from the words of the answer", () => {
  const live = EVENTS.find(({ type }) => type === "turn_timed");
  const stored = EVENTS.filter((event) => event !== live).map((event) =>
    event.at_ms === 8000 ? { ...event, data: { ...event.data, timing: live?.data } } : event,
  );
  expect(conversationTurns(stored)).toEqual(conversationTurns(EVENTS));
});

it("gives the times of an interrupted answer to the turn that it answered, not to the one that interrupted it", () => {
  const said = (end: number, words: string) => ({
    type: "caller_said",
    at_ms: end * 1000 + 400,
    data: { text: words, start_s: end - 1, end_s: end },
  });
  const timing = { caller_stopped: 2, first_frame: 2.9, response_ms: 900 };
  const cut = { type: "agent_said", at_ms: 6500, data: { text: "Well", interrupted: true, timing } };
  const [asked, interrupted] = conversationTurns([said(2, "Tell me"), said(6, "Stop"), cut]);
  expect(asked?.timing).toMatchObject({ index: 1, responseMs: 900, atMs: 2900 });
  expect(interrupted?.timing).toBeNull();
});

it("says why a tool failed, and waits for one without an answer", () => {
  const called = { type: "tool_called", at_ms: 1, data: { id: "a", name: "x", arguments: {} } };
  const said = { type: "caller_said", at_ms: 0, data: { text: "Hi" } };
  const failed = { type: "tool_answered", at_ms: 2, data: { id: "a", ok: false, error: "timeout", ms: 9 } };
  expect(conversationTurns([said, called])[0]?.tools[0]?.isOk).toBeNull();
  expect(conversationTurns([said, called, failed])[0]?.tools[0]).toMatchObject({ isOk: false, answer: "timeout" });
});
