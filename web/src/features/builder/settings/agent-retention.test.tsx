import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Agent } from "../../../lib/api/types";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { AgentRetention } from "./agent-retention";

const PATH = "/api/v1/workflow/4/retention";
const KEPT = {
  recordings_days: 7,
  transcripts_days: 60,
  runs_days: null,
  applied: { recordings_days: 7, transcripts_days: 30, runs_days: null },
};

async function renderPanel(role: "member" | "admin" = "admin") {
  const server = new FakeServer();
  signIn(server, role);
  server.on(`GET ${PATH}`, { body: KEPT });
  const editor = { agent: { id: 4, name: "Front desk", status: "active" } as Agent } as unknown as Editor;
  const part = (
    <EditorProvider value={editor}>
      <AgentRetention />
    </EditorProvider>
  );
  const rendered = await renderPart(part, { server });
  const recordings = await screen.findByRole("textbox", { name: "Recordings" });
  // Until the role is known, the fields are closed.
  if (role === "admin") await screen.findByRole("button", { name: "Save retention" });
  return { ...rendered, recordings };
}

it("sends days, and null for the organization's, and shows what applies then", async () => {
  const { user, server, recordings } = await renderPanel();
  server.on(`PUT ${PATH}`, {
    body: {
      ...KEPT,
      recordings_days: null,
      runs_days: 1,
      applied: { ...KEPT.applied, recordings_days: 90, runs_days: 1 },
    },
  });
  await user.clear(recordings);
  await user.type(screen.getByRole("textbox", { name: "Runs" }), "1");
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  const question = await screen.findByRole("dialog", { name: "Delete earlier data?" });
  expect(within(question).getByRole("listitem").textContent).toMatch(/^Whole runs, .* from before \S+ \d+, \d{4}$/);
  await user.click(within(question).getByRole("button", { name: "Save and delete" }));
  await waitFor(() =>
    expect(server.sent).toEqual([
      { route: `PUT ${PATH}`, body: { recordings_days: null, transcripts_days: 60, runs_days: 1 } },
    ]),
  );
  expect(await screen.findByText(/In effect: 90 days, set by the organization\.$/)).toBeTruthy();
  expect(screen.getByText(/In effect: 1 day\.$/)).toBeTruthy();
});

it("changes nothing when the question is canceled", async () => {
  const { user, server, recordings } = await renderPanel();
  await user.clear(recordings);
  await user.type(recordings, "3");
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  const question = await screen.findByRole("dialog", { name: "Delete earlier data?" });
  await user.click(within(question).getByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.sent).toEqual([]);
  expect(recordings).toHaveProperty("value", "3 days");
});

it("keeps 0 as it was typed, and shows what is wrong with it", async () => {
  const { user, server, recordings } = await renderPanel();
  server.refuse(`PUT ${PATH}`, ["recordings_days"], "greater_than_equal", "Input should be at least 1", 1);
  await user.clear(recordings);
  await user.type(recordings, "0");
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  expect(await screen.findByText("Recordings must be greater than or equal to 1.")).toBeTruthy();
  expect(server.sent).toMatchObject([{ body: { recordings_days: 0 } }]);
});

it("shows at each field what is in effect", async () => {
  await renderPanel();
  expect(screen.getByText(/recordings.* In effect: 7 days\.$/)).toBeTruthy();
  expect(screen.getByText(/transcripts.* In effect: 30 days, set by the organization\.$/)).toBeTruthy();
  expect(screen.getByText(/whole runs.* In effect: no limit\.$/)).toBeTruthy();
});

it("shows at the field what is wrong with it", async () => {
  const { user, server, recordings } = await renderPanel();
  server.refuse(`PUT ${PATH}`, ["recordings_days"], "less_than_equal", "Input should be at most 3650", 3650);
  await user.click(screen.getByRole("button", { name: "Save retention" }));
  expect(await screen.findByText("Recordings must be less than or equal to 3650.")).toBeTruthy();
  expect(recordings.getAttribute("aria-invalid")).toBe("true");
});

it("shows a member what applies and nothing to save", async () => {
  const { recordings } = await renderPanel("member");
  expect(recordings).toHaveProperty("value", "7 days");
  expect(recordings).toHaveProperty("disabled", true);
  expect(await screen.findByText("Only admins can change this.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save retention" })).toBeNull();
});
