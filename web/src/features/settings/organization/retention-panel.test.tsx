import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { RetentionPanel } from "./retention-panel";

const PATH = "/api/v1/organizations/retention";
const KEPT = { recordings_days: 30, transcripts_days: null, runs_days: null, contacts_days: 60, audit_days: null };

async function renderPanel(role: "member" | "owner" = "owner") {
  const server = new FakeServer();
  signIn(server, role);
  server.on(`GET ${PATH}`, { body: KEPT });
  const rendered = await renderPart(<RetentionPanel />, { server });
  await screen.findByRole("textbox", { name: "Recordings" });
  return rendered;
}

it("sends days, and null for what is kept", async () => {
  const { user, server } = await renderPanel();
  // Until the role is known, the fields are closed.
  await screen.findByRole("button", { name: "Save retention" });
  server.on(`PUT ${PATH}`, { body: { ...KEPT, recordings_days: null, runs_days: 90 } });
  await user.clear(screen.getByRole("textbox", { name: "Recordings" }));
  await user.type(screen.getByRole("textbox", { name: "Runs" }), "90");
  await user.type(screen.getByRole("textbox", { name: "Audit log" }), "400");
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  await waitFor(() =>
    expect(server.sent).toEqual([
      {
        route: `PUT ${PATH}`,
        body: { recordings_days: null, transcripts_days: null, runs_days: 90, contacts_days: 60, audit_days: 400 },
      },
    ]),
  );
});

it("shows a member what applies and nothing to save", async () => {
  await renderPanel("member");
  expect(screen.getByRole("textbox", { name: "Recordings" })).toHaveProperty("value", "30 days");
  expect(screen.queryByRole("button", { name: "Save retention" })).toBeNull();
});
