import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { AnswerTimes } from "../../../lib/live/answer-times";
import { conversationTurns } from "../../../lib/live/turns";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { showHeardTurn, TurnsPanel } from "./turns-panel";

const TURNS = conversationTurns([
  { type: "caller_said", at_ms: 2000, data: { text: "A table for two", start_s: 1, end_s: 2 } },
  { type: "turn_timed", at_ms: 2750, data: { caller_stopped: 2, first_frame: 2.75, response_ms: 750 } },
  { type: "caller_said", at_ms: 6000, data: { text: "Tonight", start_s: 5, end_s: 6 } },
  { type: "turn_timed", at_ms: 6500, data: { caller_stopped: 6, first_frame: 6.5, response_ms: 500 } },
]);
const MEASURED: AnswerTimes = {
  p50_ms: 910,
  p95_ms: 980,
  answers: [{ caller_stopped_s: 1.95, agent_audible_s: 2.86, silence_ms: 910 }],
};

async function renderTurns(answerTimes: AnswerTimes | null, turns = TURNS) {
  const server = new FakeServer();
  signIn(server, "viewer");
  const props = { agentId: 3, runId: 7, turns, prompts: new Map<string, string>(), isOver: true, onSeek: null };
  const { user } = await renderPart(<TurnsPanel {...props} answerTimes={answerTimes} />, { server });
  await screen.findByRole("list", { name: "Turns of the conversation" });
  return user;
}

it("shows what is heard in the recording beside what the events say", async () => {
  const user = await renderTurns(MEASURED);
  const summary = within(screen.getByRole("region", { name: "Measured in the recording" }));
  expect(summary.getAllByRole("definition").map((value) => value.textContent)).toEqual(["910 ms", "980 ms"]);
  const [first, second] = screen.getAllByRole("listitem");
  expect(first?.textContent).toContain("750 ms910 ms silence");
  expect(second?.textContent).toContain("500 ms");
  expect(second?.textContent).not.toContain("silence");
  await user.click(screen.getByRole("button", { name: "A table for two" }));
  expect(screen.getByText("910 ms of silence before the answer")).toBeTruthy();
});

it("says nothing about a recording that is not there, or without an answer", async () => {
  await renderTurns(null);
  expect(screen.queryByText(/silence|recording/)).toBeNull();
});

it("shows the events' times alone when nothing was answered in the recording", async () => {
  await renderTurns({ p50_ms: null, p95_ms: null, answers: [] });
  expect(screen.queryByText("Measured in the recording")).toBeNull();
  expect(screen.getByText("Median response")).toBeTruthy();
});

it("leads to what the caller said, not counting what was not understood", async () => {
  const turns = conversationTurns([
    { type: "caller_said", at_ms: 2000, data: { text: "A table for two", start_s: 1, end_s: 2 } },
    { type: "caller_not_understood", at_ms: 4000, data: { start_s: 3, end_s: 4 } },
    { type: "caller_said", at_ms: 6000, data: { text: "Tonight", start_s: 5, end_s: 6 } },
  ]);
  await renderTurns(null, turns);
  showHeardTurn(turns, 2);
  expect(document.activeElement?.textContent).toBe("Tonight");
  showHeardTurn(turns, 9);
  expect(document.activeElement?.textContent).toBe("Tonight");
});
