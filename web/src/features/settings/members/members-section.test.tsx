import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { InviteForm } from "./invite-form";
import MembersSection from "./members-section";
import { FakeServer } from "../../../testing/server";

const INVITE = "POST /api/v1/organizations/members";

it("sends an address without a name that was left empty", async () => {
  const onInvited = vi.fn();
  const { user, server } = await renderPart(<InviteForm onClose={() => undefined} onInvited={onInvited} />);
  server.on(INVITE, { body: { link: "x" } });
  await user.type(await screen.findByLabelText(/Email/), "bo@example.com");
  await user.click(screen.getByRole("button", { name: "Create link" }));
  await waitFor(() => expect(onInvited).toHaveBeenCalledOnce());
  expect(server.sent).toEqual([{ route: INVITE, body: { email: "bo@example.com", role: "member" } }]);
});

it("says at the address what is wrong with it, also where the API names no field", async () => {
  const { user, server } = await renderPart(<InviteForm onClose={() => undefined} onInvited={() => undefined} />);
  server.on(INVITE, { status: 409, body: { detail: "That person is a member already.", code: "already_member" } });
  await user.click(await screen.findByRole("button", { name: "Create link" }));
  expect(await screen.findByText("That person is a member already.")).toBeTruthy();
  expect(screen.getByLabelText(/Email/).getAttribute("aria-invalid")).toBe("true");
});

it("asks to check an address without a dot in its domain, and takes it", async () => {
  const onInvited = vi.fn();
  const { user, server } = await renderPart(<InviteForm onClose={() => undefined} onInvited={onInvited} />);
  server.on(INVITE, { body: { link: "x" } });
  const email = await screen.findByLabelText(/Email/);
  await user.type(email, "sam@acme");
  expect(screen.getByText(/no ending such as \.com/)).toBeTruthy();
  await user.type(email, ".com");
  expect(screen.queryByText(/no ending such as/)).toBeNull();
  await user.clear(email);
  await user.type(email, "ops@intranet");
  await user.click(screen.getByRole("button", { name: "Create link" }));
  await waitFor(() => expect(onInvited).toHaveBeenCalledOnce());
});

it("hands over a link with which a member chooses a new password", async () => {
  const server = new FakeServer();
  signIn(server, "owner");
  const member = { user_id: 7, email: "bo@example.com", name: null, role: "member", api_keys: ["CI"] };
  server.on("GET /api/v1/organizations/members", {
    body: { members: [{ ...member, created_at: "2026-01-01T00:00:00Z" }] },
  });
  server.on("GET /api/v1/organizations/invitations", { body: { invitations: [] } });
  server.on("POST /api/v1/organizations/members/7/password-link", {
    body: {
      email: "bo@example.com",
      url: "https://x.example/sign-in?token=t",
      token: "t",
      expires_at: "2026-01-02T00:00:00Z",
    },
  });
  const { user } = await renderPart(<MembersSection />, { server });
  await user.click(await screen.findByRole("button", { name: "Reset password of bo@example.com" }));
  expect(await screen.findByText(/Send it to bo@example.com/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Remove bo@example.com" }));
  expect(await screen.findByText(/So do the API keys that they created: CI\./)).toBeTruthy();
});
