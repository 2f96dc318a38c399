import { expect, it } from "vitest";
import { explainEnd } from "./end-explanation";

const EVENTS = [
  { type: "node_entered", at_ms: 0, data: { node_id: "ask", name: "Ask the day" } },
  { type: "caller_not_understood", at_ms: 7000, data: { start_s: 6, end_s: 7 } },
  { type: "caller_not_understood", at_ms: 17_000, data: { start_s: 16, end_s: 17 } },
];

const ended = (end_reason: string, more: object = {}) => ({
  end_reason,
  status: "completed",
  mode: "browser",
  direction: "inbound",
  duration: 32,
  ...more,
});

it("leads from words that were not understood to the sound, the step and the recognizer", () => {
  expect(explainEnd(ended("not_understood"), EVENTS)).toEqual({
    sentence: "The agent did not understand the caller 2 times at “Ask the day” and hung up.",
    isBad: true,
    actions: [
      { kind: "hear", label: "Hear it from 0:06", seconds: 6 },
      { kind: "step", label: "Add examples to “Ask the day”", nodeId: "ask" },
      { kind: "models", label: "Change speech recognition" },
    ],
  });
});

it("names the model that failed", () => {
  const failed = {
    type: "model_failed",
    at_ms: 9000,
    data: { kind: "llm", provider: "openai", message: "The key was rejected." },
  };
  const end = explainEnd(ended("error", { status: "failed" }), [...EVENTS, failed]);
  expect(end?.sentence).toBe("The call failed: the language model by OpenAI failed (The key was rejected).");
  expect(end?.actions.map((action) => action.kind)).toEqual(["hear", "models"]);
});

it("says of every other reason what happened", () => {
  const sentence = (reason: string, more?: object) => explainEnd(ended(reason, more), EVENTS)?.sentence;
  expect(sentence("caller_hung_up")).toBe("The caller hung up at “Ask the day”.");
  expect(sentence("caller_hung_up", { mode: "sandbox", direction: "outbound" })).toMatch(/^The contact hung up/);
  expect(sentence("caller_hung_up", { mode: "textchat" })).toMatch(/^The user ended the chat/);
  expect(sentence("idle", { mode: "textchat" })).toBe(
    "The chat was closed because no message arrived for a long time.",
  );
  expect(sentence("media_never_came")).toMatch(/never sent its audio/);
  expect(sentence("number_not_owned", { status: "failed" })).toBe(
    "The call could not be placed or was cut off: number not owned.",
  );
  expect(explainEnd({ ...ended(""), end_reason: null }, [])).toBeNull();
});

it("offers nothing to hear of a chat or a call that never began", () => {
  expect(explainEnd(ended("caller_hung_up", { mode: "textchat" }), [])?.actions).toEqual([]);
  expect(explainEnd(ended("voicemail", { duration: null }), [])?.actions).toEqual([]);
});
