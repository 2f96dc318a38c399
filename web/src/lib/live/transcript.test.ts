import { describe, expect, it } from "vitest";
import { EMPTY_TRANSCRIPT, type Line, applyEvent, transcriptOf, settleTranscript } from "./transcript";
import type { CallEvent } from "./events";

const event = (type: string, data: Record<string, unknown> = {}, at_ms = 0): CallEvent => ({ type, at_ms, data });
const after = (...events: CallEvent[]) => events.reduce(applyEvent, EMPTY_TRANSCRIPT);
const speech = (lines: Line[]) =>
  lines.flatMap((line) => (line.kind === "speech" ? [`${line.speaker} ${line.state}: ${line.text}`] : []));

describe("a conversation", () => {
  it("shows partial words of the caller until they are final", () => {
    const partial = after(
      event("caller_partial", { text: "I would" }),
      event("caller_partial", { text: "I would like" }),
    );
    expect(speech(partial.lines)).toEqual(["caller live: I would like"]);
    const final = applyEvent(partial, event("caller_said", { text: "I would like a table", start_s: 1, end_s: 2 }));
    expect(speech(final.lines)).toEqual(["caller final: I would like a table"]);
  });

  it("drops partial words that turn out to be nothing", () => {
    expect(after(event("caller_partial", { text: "hm" }), event("caller_said", { text: "" })).lines).toEqual([]);
  });

  it("keeps what was not understood as an utterance with its time", () => {
    const state = after(
      event("caller_partial", { text: "hm" }),
      event("caller_not_understood", { start_s: 2.5, end_s: 4 }, 6000),
    );
    expect(speech(state.lines)).toEqual(["caller not_understood: Not understood"]);
    expect(state.lines[0]).toMatchObject({ atMs: 2500 });
  });

  it("joins the agent's sentences to one line and closes it with what was said", () => {
    const speaking = after(
      event("agent_speaking", { text: "Hello." }, 100),
      event("agent_speaking", { text: "How can I help?" }, 900),
    );
    expect(speech(speaking.lines)).toEqual(["agent live: Hello. How can I help?"]);
    const said = applyEvent(
      speaking,
      event("agent_said", { text: "Hello. How can I help?", interrupted: false }, 2000),
    );
    expect(speech(said.lines)).toEqual(["agent final: Hello. How can I help?"]);
    expect(said.lines[0]?.atMs).toBe(100);
  });

  it("corrects the line to what was heard when the caller interrupts, and keeps the rest apart", () => {
    const state = after(
      event("agent_speaking", { text: "We have a table at six or at eight." }),
      event("barged_in", { heard: "We have a table", dropped_ms: 900 }),
      event("caller_partial", { text: "six" }),
      event("agent_said", { text: "We have a table", interrupted: true }),
      event("caller_said", { text: "six please" }),
    );
    expect(speech(state.lines)).toEqual(["agent interrupted: We have a table", "caller final: six please"]);
    expect(state.lines[0]).toMatchObject({ unheard: "at six or at eight." });
  });

  it("keeps the next step's words out of what was interrupted, when that is told late", () => {
    const told = after(
      event("agent_speaking", { text: "Hello there, this is Sam. It takes one minute." }, 100),
      event("agent_speaking", { text: "Great." }, 3000),
      event("agent_said", { text: "Hello there, this is Sam", interrupted: true }, 1500),
    );
    expect(speech(told.lines)).toEqual(["agent interrupted: Hello there, this is Sam", "agent live: Great."]);
    expect(told.lines[0]).toMatchObject({ unheard: ". It takes one minute." });
    const next = [
      event("agent_speaking", { text: "On a scale from one to ten?" }, 3600),
      event("agent_said", { text: "Great. On a scale from one to ten?", interrupted: false }, 6000),
    ].reduce(applyEvent, told);
    expect(speech(next.lines)[1]).toBe("agent final: Great. On a scale from one to ten?");
    expect(next.lines[1]).toMatchObject({ atMs: 3000 });
  });

  it("keeps sentences open that were announced after the one that was said", () => {
    const state = after(
      event("agent_speaking", { text: "One." }),
      event("agent_speaking", { text: "Two." }),
      event("agent_said", { text: "One.", interrupted: false }),
    );
    expect(speech(state.lines)).toEqual(["agent final: One.", "agent live: Two."]);
    expect(speech(applyEvent(state, event("agent_said", { text: "Two." })).lines)).toEqual([
      "agent final: One.",
      "agent final: Two.",
    ]);
  });

  it("reads stored events, which have no live ones, the same way", () => {
    const state = transcriptOf([
      event("agent_said", { text: "Hello.", start_s: 0.2 }, 1500),
      event("caller_said", { text: "Hi.", start_s: 2.1 }, 3000),
    ]);
    expect(state.lines.map((line) => line.atMs)).toEqual([200, 2100]);
  });

  it("follows the current node and says so between the lines", () => {
    const state = after(
      event("node_entered", { node_id: "s", name: "Welcome" }),
      event("node_entered", { node_id: "b", name: "Booking" }),
    );
    expect(state.nodeId).toBe("b");
    expect(state.lines.map((line) => line.text)).toEqual(["Welcome", "Booking"]);
  });

  it("warns about failures and is silent about tools that worked", () => {
    const state = after(
      event("model_failed", { kind: "llm", provider: "openai", message: "timed out" }),
      event("watchdog_acted", { step: "retry", reason: "nothing_recognized", silent_ms: 900 }),
      event("tool_answered", { name: "find_order", ok: true }),
      event("tool_answered", { name: "find_order", ok: false, error: "no such order" }),
    );
    expect(state.lines).toMatchObject([
      { text: "Language model by OpenAI failed: timed out", tone: "warning" },
      { text: "Asked again: nothing recognized", tone: "warning" },
      { text: "Tool find_order failed: no such order", tone: "warning" },
    ]);
  });

  it("knows whether the caller speaks now", () => {
    const speaking = after(event("caller_started"));
    expect(speaking.isCallerSpeaking).toBe(true);
    expect(applyEvent(speaking, event("caller_stopped")).isCallerSpeaking).toBe(false);
  });

  it("leaves nothing live when the call is over", () => {
    const state = settleTranscript(
      after(event("agent_speaking", { text: "Bye." }), event("caller_partial", { text: "uh" })),
    );
    expect(speech(state.lines)).toEqual(["agent final: Bye."]);
  });

  it("ignores what it does not know", () => {
    expect(after(event("something_new", { text: "x" }))).toEqual(EMPTY_TRANSCRIPT);
  });
});

it("names the values that were too long to be kept", () => {
  const lines = after(event("values_left_out", { node_id: "a", names: ["story", "notes"] })).lines;
  expect(lines).toMatchObject([{ kind: "note", tone: "warning", text: "Too long to store: story, notes" }]);
});
