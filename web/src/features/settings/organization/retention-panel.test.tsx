import { screen, waitFor, within } from "@testing-library/react";
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

it("asks before it deletes, then sends days, and null for what is kept", async () => {
  const { user, server } = await renderPanel();
  // Until the role is known, the fields are closed.
  await screen.findByRole("button", { name: "Save retention" });
  server.on(`PUT ${PATH}`, { body: { ...KEPT, recordings_days: null, runs_days: 90 } });
  await user.clear(screen.getByRole("textbox", { name: "Recordings" }));
  await user.type(screen.getByRole("textbox", { name: "Runs" }), "90");
  await user.type(screen.getByRole("textbox", { name: "Audit log" }), "400");
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  const question = await screen.findByRole("dialog", { name: "Delete earlier data?" });
  expect(server.sent).toEqual([]);
  // Recordings are kept longer now, and contacts as before.
  expect(
    within(question)
      .getAllByRole("listitem")
      .map((item) => item.textContent.replace(/ \S+ \d+, \d+$/, "")),
  ).toEqual(["Whole runs, with recordings and transcripts, from before", "Audit log entries from before"]);
  await user.click(within(question).getByRole("button", { name: "Save and delete" }));
  await waitFor(() =>
    expect(server.sent).toEqual([
      {
        route: `PUT ${PATH}`,
        body: { recordings_days: null, transcripts_days: null, runs_days: 90, contacts_days: 60, audit_days: 400 },
      },
    ]),
  );
});

it("sends what is out of range as it was typed, and shows what is wrong at the field", async () => {
  const { user, server } = await renderPanel();
  await screen.findByRole("button", { name: "Save retention" });
  server.refuse(`PUT ${PATH}`, ["recordings_days"], "greater_than_equal", "Input should be at least 1", 1);
  const recordings = screen.getByRole("textbox", { name: "Recordings" });
  await user.clear(recordings);
  await user.type(recordings, "0");
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  expect(await screen.findByText("Recordings must be greater than or equal to 1.")).toBeTruthy();
  expect(server.sent).toEqual([{ route: `PUT ${PATH}`, body: { ...KEPT, recordings_days: 0 } }]);
  expect(recordings).toHaveProperty("value", "0 days");
});

it("shows a member what applies and nothing to save", async () => {
  await renderPanel("member");
  expect(screen.getByRole("textbox", { name: "Recordings" })).toHaveProperty("value", "30 days");
  expect(screen.queryByRole("button", { name: "Save retention" })).toBeNull();
});
