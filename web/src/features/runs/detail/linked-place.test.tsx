import { screen, waitFor, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { RunPage } from "./run-page";

const said = (type: string, start_s: number, text: string) => ({
  seq: start_s,
  type,
  at_ms: start_s * 1000 + 900,
  data: { text, start_s, end_s: start_s + 0.9 },
  created_at: "2026-11-29T10:00:00Z",
});
const CHAT = {
  id: 7,
  workflow_id: 3,
  workflow_name: "Ann's bakery",
  name: "WR-CHAT-7",
  mode: "textchat",
  direction: "inbound",
  status: "completed",
  duration: 9,
  cost_cents: 0,
  has_journal: false,
  ...Object.fromEntries(
    [
      ...["phone_number", "caller_number", "called_number", "outcome", "result", "is_success", "end_reason", "note"],
      ...["campaign_id", "started_at", "waits_until", "previous_run_id", "next_run_id", "analysis"],
    ].map((name) => [name, null]),
  ),
  recording_url: null,
  transcript_url: null,
  initial_context: {},
  gathered_context: {},
  annotations: {},
  prompts: {},
  tags: [],
  latency: { p50_ms: null, p95_ms: null, turns: 0 },
  cost_lines: [],
  unpriced: [],
  created_at: "2026-11-29T10:00:00Z",
  events: [said("agent_said", 1, "Hello"), said("caller_said", 5, "On Friday"), said("agent_said", 8, "Goodbye")],
};

it("shows what was said at the place that a link leads to, also without a recording", async () => {
  const scrolled = vi.fn();
  Element.prototype.scrollIntoView = scrolled;
  const server = new FakeServer().on("GET /api/v1/workflow/3/runs/7", { body: CHAT });
  signIn(server, "viewer");
  await renderPart(<RunPage agentId={3} runId={7} startAt={5} />, { server });
  const words = within(await screen.findByRole("log", { name: "Transcript" })).getByText("On Friday");
  await waitFor(() => expect(words.closest("[data-heard]")).not.toBeNull());
  expect(document.querySelectorAll("[data-heard]")).toHaveLength(1);
  expect(scrolled).toHaveBeenCalled();
});
