import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import type { Campaign } from "./api";
import { CampaignsPage } from "./campaigns-page";

const campaign = (id: number, values: Partial<Campaign>) =>
  ({
    id,
    name: `Campaign ${id}`,
    workflow_name: "Maya",
    status: "draft",
    calling_hours: { timezone: "America/New_York", slots: [] },
    progress: { total_contacts: 3, progress_percentage: 0, answered: 0 },
    created_at: "2026-01-01T00:00:00Z",
    starts_at: "2099-01-05T14:00:00Z",
    ...values,
  }) as unknown as Campaign;

it("shows when a draft starts on its own, by the clocks of its hours, and that it did not", async () => {
  const campaigns = [
    campaign(1, {}),
    campaign(2, { start_problem: "The agent is archived." }),
    campaign(3, { status: "running" }),
    campaign(4, { starts_at: null }),
  ];
  const server = new FakeServer().on("GET /api/v1/campaign/", { body: campaigns });
  signIn(server, "member");
  await renderPart(<CampaignsPage />, { server });
  expect(await screen.findByText(/^Starts .*9:00/)).toBeTruthy();
  expect(screen.getByText(/^Did not start .*9:00/)).toBeTruthy();
  expect(screen.getAllByText(/tart.* .*9:00/)).toHaveLength(2);
});
