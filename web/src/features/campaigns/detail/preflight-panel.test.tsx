import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { PreflightPanel } from "./preflight-panel";

const CAMPAIGN = { id: 4, calling_hours: null, max_concurrency: 5 } as never;

async function renderPreflight(minutesToEnd: number) {
  const server = new FakeServer().on("GET /api/v1/campaign/4/preflight", {
    body: {
      total_contacts: 5,
      callable_contacts: 5,
      estimated_dialling_seconds: 53,
      estimated_end_at: new Date(Date.now() + minutesToEnd * 60_000).toISOString(),
      estimated_cost_cents: null,
      estimated_calls: 7,
      closed_now: 0,
      on_do_not_call_list: 0,
      invalid_numbers: 0,
      blocked_destinations: 0,
      missing_values: [],
      contacts_by_zone: [],
    },
  });
  await renderPart(<PreflightPanel campaign={CAMPAIGN} />, { server });
}

it("says that a campaign waits where it ends later than its dialing takes", async () => {
  await renderPreflight(6);
  expect(await screen.findByText("Estimated end")).toBeTruthy();
  expect(screen.getByText("53 s of dialing, plus waits for retries and hours")).toBeTruthy();
});

it("speaks of no waits where there are none", async () => {
  await renderPreflight(1);
  expect(await screen.findByText("53 s of dialing")).toBeTruthy();
});
