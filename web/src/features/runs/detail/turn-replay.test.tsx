import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { describePath, TurnReplay } from "./turn-replay";

const ROUTE = "POST /api/v1/workflow/3/runs/20/turns/2/replay";
const THEN = { answer: "Which day?", edges: [], steps: [], tools: [], values: {}, end_reason: null, failure: null };
const NOW = {
  ...THEN,
  answer: "You are booked.",
  edges: [{ id: "e1", label: "Book", source: "1", target: "2" }],
  steps: ["Booking"],
  values: { day: "Monday" },
};

const AGENT = "GET /api/v1/workflow/fetch/3";

async function renderReplay() {
  const server = new FakeServer().on(AGENT, { body: { has_draft: true } });
  const rendered = await renderPart(<TurnReplay agentId={3} runId={20} turn={2} />, { server });
  const button = await screen.findByRole("button", { name: "Re-run turn 2 with the draft" });
  return { ...rendered, run: () => rendered.user.click(button) };
}

it("shows what is different with the draft", async () => {
  const { server, run } = await renderReplay();
  server.on(ROUTE, {
    body: {
      turn: 2,
      heard: "Monday",
      step: "Day",
      version_number: 4,
      recorded: THEN,
      replayed: NOW,
      is_same_path: false,
      is_same_answer: false,
    },
  });
  await run();
  expect(await screen.findByText("Different path")).toBeTruthy();
  expect(screen.getByRole("region", { name: "Version 4" }).textContent).toContain("Book → Booking");
  expect(screen.getByRole("region", { name: "Then" }).textContent).toContain("Stays in the step");
  expect(screen.getByText("day: Monday")).toBeTruthy();
});

it("says why a turn cannot be played again", async () => {
  const { server, run } = await renderReplay();
  server.on(ROUTE, {
    status: 409,
    body: { detail: "The step “Day”, in which this was said, is not in version 2.", code: "step_not_in_draft" },
  });
  await run();
  expect(await screen.findByText("The step “Day”, in which this was said, is not in version 2.")).toBeTruthy();
});

it("says that it plays the published version where there is no draft", async () => {
  const server = new FakeServer().on(AGENT, { body: { has_draft: false, published_version_number: 3 } });
  await renderPart(<TurnReplay agentId={3} runId={20} turn={2} />, { server });
  expect(await screen.findByText("Re-run with the published version (v3)")).toBeTruthy();
});

it("names where a turn led to", () => {
  expect(describePath({ ...NOW, end_reason: "agent_ended" })).toBe("Book → Booking, then ended by the agent");
});
