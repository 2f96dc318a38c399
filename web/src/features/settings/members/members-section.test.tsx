import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../testing/render";
import { InviteForm } from "./members-section";

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
