import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { DeleteCampaign, DeleteContacts } from "./deletion";

const CAMPAIGN = { id: 3, name: "Spring" };
const DELETE = "DELETE /api/v1/campaign/3";

it("deletes the campaign, and says why it does not", async () => {
  const server = new FakeServer();
  const refuse = server.hold(DELETE, { status: 409, body: { detail: "Pause it first.", code: "campaign_running" } });
  const { user } = await renderPart(<DeleteCampaign campaign={CAMPAIGN} onClose={() => {}} />, { server });
  await user.click(await screen.findByRole("checkbox", { name: /Delete its calls too/ }));
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  refuse();
  expect((await screen.findByRole("alert")).textContent).toContain("Pause it first.");
  server.on(DELETE, { body: { campaign_id: 3, contacts: 2, runs: 1, has_contact_file: true } });
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(server.sent).toHaveLength(2));
});

it("deletes only the contacts", async () => {
  const server = new FakeServer();
  server.on(`${DELETE}/contacts`, { body: { campaign_id: 3, contacts: 2, runs: 0, has_contact_file: true } });
  let isClosed = false;
  const { user } = await renderPart(<DeleteContacts campaign={CAMPAIGN} onClose={() => (isClosed = true)} />, {
    server,
  });
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  await waitFor(() => expect(isClosed).toBe(true));
  expect(server.sent.map(({ route }) => route)).toEqual([`${DELETE}/contacts`]);
});
