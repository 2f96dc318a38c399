import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { NotesPanel } from "./notes-panel";

const ROUTE = "PATCH /api/v1/workflow/3/runs/7";

it("saves a note when it is left, and tags at once", async () => {
  const server = new FakeServer();
  signIn(server, "member");
  server.on(ROUTE, (body) => ({
    body: { workflow_run_id: 7, note: null, tags: [], ...(body as object) },
  }));
  const { user } = await renderPart(<NotesPanel agentId={3} run={{ id: 7, note: null, tags: [] }} />, { server });
  await user.type(await screen.findByLabelText("Note"), "Call back");
  expect(server.sent).toEqual([]);
  await user.tab();
  await waitFor(() => expect(server.sent).toEqual([{ route: ROUTE, body: { note: "Call back" } }]));
  await user.type(screen.getByRole("combobox", { name: "Tags" }), "angry{Enter}");
  await waitFor(() => expect(server.sent.at(-1)).toEqual({ route: ROUTE, body: { tags: ["angry"] } }));
});

it("is not there for those who may not write, without anything to read", async () => {
  const server = new FakeServer();
  signIn(server, "viewer");
  await renderPart(<NotesPanel agentId={3} run={{ id: 7, note: null, tags: [] }} />, { server });
  expect(screen.queryByLabelText("Note")).toBeNull();
});

it("shows the platform's tags in words and saves them under their names", async () => {
  const server = new FakeServer();
  signIn(server, "member");
  server.on(ROUTE, (body) => ({ body: { workflow_run_id: 7, note: null, tags: [], ...(body as object) } }));
  const run = { id: 7, note: null, tags: ["silent_caller", "vip_customer"] };
  const { user } = await renderPart(<NotesPanel agentId={3} run={run} />, { server });
  expect(await screen.findByText("Silent caller")).toBeTruthy();
  expect(screen.getByText("vip_customer")).toBeTruthy();
  const field = screen.getByRole("combobox", { name: "Tags" });
  // Until the role is known, nothing can be typed.
  await waitFor(() => expect(field).toHaveProperty("readOnly", false));
  await user.type(field, "angry{Enter}");
  await waitFor(() =>
    expect(server.sent.at(-1)).toEqual({ route: ROUTE, body: { tags: ["silent_caller", "vip_customer", "angry"] } }),
  );
});
