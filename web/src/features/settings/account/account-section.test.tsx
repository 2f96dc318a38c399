import { screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { currentToken, farewell, hasExpired, startSession } from "../../../lib/api/session";
import { renderPart } from "../../../testing/render";
import { OwnName, PasswordPanel } from "./account-section";

const ROUTE = "POST /api/v1/auth/password";

beforeEach(() => startSession("token"));

it("changes one's name, and says at the field what is wrong with it", async () => {
  const name = "PATCH /api/v1/auth/me";
  const { user, server } = await renderPart(<OwnName name="Ann" />);
  server.refuse(name, ["name"], "string_too_short", "String should have at least 1 character", 1);
  const field = await screen.findByLabelText(/Name/);
  const save = screen.getByRole<HTMLButtonElement>("button", { name: "Save" });
  expect(save.disabled).toBe(true);
  await user.clear(field);
  await user.click(save);
  expect(await screen.findByText("Name is required.")).toBeTruthy();
  server.on(name, { body: { name: "Ann Example" } });
  await user.type(field, "Ann Example");
  await user.click(save);
  await waitFor(() => expect(server.sent.at(-1)).toEqual({ route: name, body: { name: "Ann Example" } }));
});

it("sets a first password without asking for a current one, and says at the field what is wrong", async () => {
  const { user, server } = await renderPart(<PasswordPanel hasPassword={false} />);
  server.refuse(ROUTE, ["new_password"], "string_too_short", "String should have at least 8 characters", 8);
  expect(await screen.findByText(/You have no password yet/)).toBeTruthy();
  expect(screen.queryByLabelText(/Current password/)).toBeNull();
  await user.type(screen.getByLabelText(/New password/), "short");
  await user.click(screen.getByRole("button", { name: "Set a password" }));
  expect(await screen.findByText("New password must have at least 8 characters.")).toBeTruthy();
  await waitFor(() => expect(server.sent).toEqual([{ route: ROUTE, body: { new_password: "short" } }]));
});

it("changes a password with the current one", async () => {
  const { user, server } = await renderPart(<PasswordPanel hasPassword />);
  server.on(ROUTE, { body: { success: true } });
  await user.type(await screen.findByLabelText(/Current password/), "correct horse");
  await user.type(screen.getByLabelText(/New password/), "another horse");
  await user.click(screen.getByRole("button", { name: "Change password" }));
  const body = { current_password: "correct horse", new_password: "another horse" };
  await waitFor(() => expect(server.sent).toEqual([{ route: ROUTE, body }]));
});

it("leads to a new sign-in, and back here, where that is needed", async () => {
  const { user, server } = await renderPart(<PasswordPanel hasPassword={false} />);
  const detail = "For your security, sign in again to do this.";
  server.on(ROUTE, { status: 403, body: { detail, code: "fresh_sign_in_needed" } });
  server.on("POST /api/v1/auth/logout", { body: { success: true } });
  await user.type(await screen.findByLabelText(/New password/), "correct horse");
  await user.click(screen.getByRole("button", { name: "Set a password" }));
  expect(await screen.findByText(/For your security, sign in again to set a password/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Sign in again" }));
  await waitFor(() => expect(currentToken()).toBeNull());
  expect(farewell()).toBe("Sign in again to continue where you left off.");
  expect(hasExpired()).toBe(true);
});
