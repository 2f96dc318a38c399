import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { currentToken, farewell, startSession } from "../../../lib/api/session";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { DeleteAccount } from "./delete-account";

const PATH = "/api/v1/auth/account-deletion";
const ACME = { id: 1, name: "Acme", role: "owner", is_only_owner: false, api_keys: 2 };
const PREVIEW = { organizations: [ACME], needs_password: true, needs_code: true, refusal: null };

async function open(preview: object) {
  startSession("token");
  const server = new FakeServer().on(`GET ${PATH}`, { body: { ...PREVIEW, ...preview } });
  const { user } = await renderPart(<DeleteAccount />, { server });
  await user.click(await screen.findByRole("button", { name: "Delete my account" }));
  const dialog = within(await screen.findByRole("dialog"));
  return { server, user, dialog, submit: dialog.getByRole("button", { name: "Delete my account" }) };
}

it("says what ends, asks for all proofs, says what is wrong, and signs out", async () => {
  const { server, user, dialog, submit } = await open({});
  expect(dialog.getByText("Acme: 2 API keys of yours will stop working")).toBeTruthy();
  expect(submit.hasAttribute("disabled")).toBe(true);
  await user.type(dialog.getByLabelText(/Your email/), "bob@example.com");
  await user.type(dialog.getByLabelText(/Your password/), "correct horse");
  await user.type(dialog.getByLabelText(/^Code/), "123456");
  const answer = { status: 403, body: { detail: "This code is wrong.", code: "wrong_code" } };
  const release = server.hold(`POST ${PATH}`, answer);
  await user.click(submit);
  await waitFor(() => expect(submit.hasAttribute("data-loading")).toBe(true));
  release();
  expect(await dialog.findByText("This code is wrong.")).toBeTruthy();
  expect(currentToken()).toBe("token");
  server.on(`POST ${PATH}`, { body: { organizations: 1, ended_keys: 2 } });
  await user.click(submit);
  await waitFor(() => expect(currentToken()).toBeNull());
  expect(farewell()).toBe("Your account is deleted.");
  const body = { email: "bob@example.com", current_password: "correct horse", code: "123456" };
  expect(server.sent.at(-1)).toEqual({ route: `POST ${PATH}`, body });
});

it("asks only for what the account has, and shows a wrong address at its field", async () => {
  const { server, user, dialog, submit } = await open({ needs_password: false, needs_code: false });
  expect(dialog.queryByLabelText(/Your password/)).toBeNull();
  expect(dialog.queryByLabelText(/^Code/)).toBeNull();
  const detail = "This is not the email address of your account. Type it exactly.";
  server.on(`POST ${PATH}`, { status: 422, body: { detail, code: "confirmation_wrong", field: "email" } });
  const email = dialog.getByLabelText(/Your email/);
  await user.type(email, "ada@example.com");
  await user.click(submit);
  expect(await dialog.findByText(detail)).toBeTruthy();
  expect(email.getAttribute("aria-invalid")).toBe("true");
  expect(server.sent).toEqual([{ route: `POST ${PATH}`, body: { email: "ada@example.com" } }]);
});

it.each([
  ["only_owner", /only owner of Acme and Mill\. Make another member an owner first, or delete/],
  ["superuser_account", /superuser access first/],
  ["fresh_sign_in_needed", /sign in again to delete your account/],
])("says why it cannot be deleted now: %s", async (refusal, words) => {
  const organizations = [ACME, { ...ACME, id: 2, name: "Mill" }, { ...ACME, id: 3, name: "Shop" }];
  const alone = organizations.map((one) => ({ ...one, is_only_owner: one.id < 3 }));
  const server = new FakeServer().on(`GET ${PATH}`, { body: { ...PREVIEW, organizations: alone, refusal } });
  await renderPart(<DeleteAccount />, { server });
  expect(await screen.findByText(words)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Delete my account" })).toBeNull();
  const instead = screen.queryByRole("link", { name: "Delete the organization" });
  expect(instead?.getAttribute("href") ?? null).toBe(refusal === "only_owner" ? "/settings/organization" : null);
});
