import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import type { RunView } from "./api";
import { ViewForm } from "./view-form";

const VIEWS = "/api/v1/organizations/usage/run-views";
const VIEW = { id: 3, name: "Failed", search: { success: "no" }, is_shared: false } as unknown as RunView;

async function renderForm(view: RunView | null, role: "member" | "viewer" = "member") {
  const server = new FakeServer().on(`GET ${VIEWS}`, { body: [] });
  signIn(server, role);
  const search = { success: "no" as const, page: 4 };
  return renderPart(<ViewForm view={view} search={search} onClose={() => undefined} />, { server });
}

it("saves the filters of the list under a name, and shares them", async () => {
  const { user, server } = await renderForm(null);
  server.on(`POST ${VIEWS}`, { body: VIEW });
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), "Lost");
  await user.click(await screen.findByRole("switch", { name: /^Share/ }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  const body = { name: "Lost", is_shared: true, search: { success: "no" } };
  await waitFor(() => expect(server.sent).toEqual([{ route: `POST ${VIEWS}`, body }]));
});

it("shows that a name is taken, and lets viewers share nothing", async () => {
  const { user, server } = await renderForm(VIEW, "viewer");
  const taken = "You already have a view with this name. Choose another name.";
  server.on(`PATCH ${VIEWS}/3`, { status: 409, body: { detail: taken, code: "view_name_taken" } });
  await user.click(await screen.findByRole("button", { name: "Save" }));
  expect(await screen.findByText(taken)).toBeTruthy();
  expect(screen.queryByRole("switch")).toBeNull();
});
