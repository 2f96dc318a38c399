import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { InvitationPage } from "./invitation-page";

const ACCEPT = "POST /api/v1/auth/invitations/accept";
const PLACE = { path: "/invitation", search: "?token=t0ken" };

function invitedServer(): FakeServer {
  return new FakeServer().on("POST /api/v1/auth/invitations/look", {
    body: {
      email: "ann@example.com",
      name: null,
      role: "member",
      organization_name: "Acme",
      expires_at: "2026-12-24T12:00:00Z",
      has_account: false,
    },
  });
}

it("sends the name and the password of a new account", async () => {
  const { user, server } = await renderPart(<InvitationPage />, { server: invitedServer(), ...PLACE });
  server.on(ACCEPT, { body: { token: "session" } });
  await user.type(await screen.findByLabelText(/^Your name/), "Ann");
  await user.type(screen.getByLabelText(/^Choose a password/), "correct horse");
  await user.click(screen.getByRole("button", { name: "Join" }));
  const body = { token: "t0ken", name: "Ann", password: "correct horse" };
  await waitFor(() => expect(server.sent.at(-1)).toEqual({ route: ACCEPT, body }));
  expect(await screen.findByText("elsewhere")).toBeTruthy();
});

it("shows at the password what is wrong with it", async () => {
  const { user, server } = await renderPart(<InvitationPage />, { server: invitedServer(), ...PLACE });
  server.refuse(ACCEPT, ["password"], "string_too_short", "String should have at least 8 characters", 8);
  await user.type(await screen.findByLabelText(/^Choose a password/), "short");
  await user.click(screen.getByRole("button", { name: "Join" }));
  expect(await screen.findByText("Password must have at least 8 characters.")).toBeTruthy();
  expect(screen.getByLabelText(/^Choose a password/).getAttribute("aria-invalid")).toBe("true");
});

it("says that a link without its token is incomplete", async () => {
  const { server } = await renderPart(<InvitationPage />, { path: "/invitation" });
  expect(await screen.findByText("This link is incomplete")).toBeTruthy();
  expect(server.sent).toEqual([]);
});
