import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { SpendLimitPanel } from "./spend-limit-panel";

const PUT = "PUT /api/v1/organizations/usage/spend-limit";

async function renderPanel(role: "member" | "owner" = "owner") {
  const server = new FakeServer();
  signIn(server, role);
  server.on("GET /api/v1/organizations/usage/spend-limit", {
    body: { own_limit_cents: 2500, limit_cents: 2500, spent_today_cents: 310 },
  });
  const rendered = await renderPart(<SpendLimitPanel />, { server });
  await screen.findByText("$3.10");
  return rendered;
}

it("sends the limit in cents, and null for none", async () => {
  const { user, server } = await renderPanel();
  server.on(PUT, { body: {} });
  const field = screen.getByRole("textbox", { name: "Your limit" });
  await user.clear(field);
  await user.type(field, "12.34");
  await user.click(screen.getByRole("button", { name: "Save limit" }));
  await waitFor(() => expect(server.sent).toEqual([{ route: PUT, body: { own_limit_cents: 1234 } }]));
  await user.clear(field);
  await user.click(screen.getByRole("button", { name: "Save limit" }));
  await waitFor(() => expect(server.sent[1]).toEqual({ route: PUT, body: { own_limit_cents: null } }));
});

it("shows a member what applies and nothing to save", async () => {
  await renderPanel("member");
  expect(screen.getByText("$25.00")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save limit" })).toBeNull();
});
