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

it("says why a tool failed, and waits for one without an answer", () => {
  const called = { type: "tool_called", at_ms: 1, data: { id: "a", name: "x", arguments: {} } };
  const said = { type: "caller_said", at_ms: 0, data: { text: "Hi" } };
  const failed = { type: "tool_answered", at_ms: 2, data: { id: "a", ok: false, error: "timeout", ms: 9 } };
  expect(conversationTurns([said, called])[0]?.tools[0]?.isOk).toBeNull();
  expect(conversationTurns([said, called, failed])[0]?.tools[0]).toMatchObject({ isOk: false, answer: "timeout" });
});
