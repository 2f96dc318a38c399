import { expect, it } from "vitest";
import { EMPTY_RUN, finishRun, applyRunEvent, sortLines } from "./live-run";

const event = (seq: number, type: string, data: Record<string, unknown> = {}) => ({
  seq,
  type,
  at_ms: seq * 100,
  data,
});

it("follows a run through its steps and its tools, each event once", () => {
  const events = [
    event(1, "node_entered", { node_id: "a", name: "Hello" }),
    event(2, "tool_called", { name: "look_up", arguments: { day: "Monday" } }),
    event(3, "tool_answered", { name: "look_up", ok: true, result: { free: 2 } }),
    event(4, "node_entered", { node_id: "b", name: "Bye" }),
    event(4, "node_entered", { node_id: "b", name: "Bye" }),
    event(5, "node_entered", { node_id: "a", name: "Hello" }),
  ];
  const run = events.reduce(applyRunEvent, EMPTY_RUN);
  expect([run.visited, run.transcript.nodeId, run.seq]).toEqual([["a", "b"], "a", 5]);
  expect(run.tools).toEqual([{ name: "look_up", arguments: { day: "Monday" }, isOk: true, result: '{"free":2}' }]);
  expect(run.transcript.lines.filter((line) => line.text === "Bye")).toHaveLength(1);
  const over = finishRun(run, { status: "completed", outcome: "answered", endReason: null });
  expect([over.transcript.nodeId, over.ended?.outcome]).toEqual([null, "answered"]);
});

it("shows what was said in the order in which it began", () => {
  const answer = { type: "agent_speaking", at_ms: 5_000, data: { text: "At nine." } };
  const question = { seq: 1, type: "caller_said", at_ms: 4_900, data: { text: "When?", start_s: 4.2 } };
  const { transcript } = [answer, question].reduce(applyRunEvent, EMPTY_RUN);
  expect(sortLines(transcript.lines).map((line) => line.text)).toEqual(["When?", "At nine."]);
});

it("is answered when somebody picks up, not while it rings", () => {
  const ringing = applyRunEvent(EMPTY_RUN, event(1, "status_changed", { status: "ringing" }));
  expect(ringing.isAnswered).toBe(false);
  expect(applyRunEvent(ringing, event(2, "status_changed", { status: "in_progress" })).isAnswered).toBe(true);
});
