import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { describeEarlyAnswer, describeUnusedAnswers } from "./early-answers";
import { EventsPanel } from "./events-panel";
import { Costs } from "./facts-panels";

const ENTRY = { provider: "openai", model: "gpt-4.1", calls: 9, prompt_tokens: 9000 };
const UNUSED = { early_unused_calls: 2, early_unused_prompt_tokens: 1240, early_unused_completion_tokens: 1 };

it("says what an early answer saved, or why it was not used", () => {
  const said = [
    { used: true, ahead_ms: 424 },
    { used: true },
    { used: false, reason: "caller_went_on" },
    { used: false, reason: "of_tomorrow" },
    {},
  ].map(describeEarlyAnswer);
  expect(said).toEqual([
    "Used: requested 0.42 s sooner",
    "Used",
    "Not used: the caller went on",
    "Not used: of tomorrow",
    "Not used",
  ]);
});

it("adds up what was not used, over all models", () => {
  expect(
    describeUnusedAnswers({
      llm: [
        { ...ENTRY, ...UNUSED },
        { ...ENTRY, early_unused_calls: 1 },
      ],
    }),
  ).toBe("Includes early answers that were not used: 3 requests, 1,240 prompt tokens, 1 completion token.");
  expect(
    [{ llm: [{ ...ENTRY, early_calls: 3 }] }, {}, { llm: "?" }, { llm: [null] }].map(describeUnusedAnswers),
  ).toEqual(["", "", "", ""]);
});

it("shows the words among the events and below the cost", async () => {
  const event = { seq: 1, type: "early_answer", at_ms: 1200, data: { used: false, reason: "call_over" } };
  const line = { kind: "llm", provider: "openai", model: "gpt-4.1", unit: "prompt_token", quantity: 9000 };
  const run = {
    usage: { llm: [{ ...ENTRY, ...UNUSED }] },
    cost_cents: 2,
    cost_lines: [{ ...line, unit_price_cents: 0.0002, price_date: "2026-01-01", cost_cents: 2 }],
    unpriced: [],
  };
  const { user } = await renderPart(
    <>
      <EventsPanel events={[event] as never} onSeek={null} />
      <Costs run={run as never} />
    </>,
  );
  await user.click(await screen.findByRole("button", { name: "Show" }));
  const row = await screen.findByRole("listitem");
  expect(row.textContent).toBe("1.20 sEarly answerNot used: the call ended");
  expect(screen.getByText(/^Includes early answers that were not used: 2 requests/)).toBeDefined();
});
