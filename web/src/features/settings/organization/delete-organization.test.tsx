import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { currentToken, farewell } from "../../../lib/api/session";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer, network } from "../../../testing/server";
import { DeleteOrganization } from "./delete-organization";

const PATH = "/api/v1/organizations/deletion";
const PREVIEW = {
  name: "Acme",
  counts: { agents: 2, runs: 1840, documents: 0, members: 3, api_keys: 1 },
  accounts: 2,
  deletes_own_account: true,
  needs_password: true,
  needs_code: true,
  refusals: [],
};
const ME = { email: "ann@example.com", name: "Ann", role: "owner", impersonated: false, is_provider_session: false };

async function show(preview: object) {
  const server = new FakeServer();
  signIn(server, "owner", {});
  server.on("GET /api/v1/auth/me", { body: ME });
  server.on(`GET ${PATH}`, { body: { ...PREVIEW, ...preview } });
  return renderPart(<DeleteOrganization />, { server });
}

async function open(preview: object) {
  const { server, user } = await show(preview);
  await user.click(await screen.findByRole("button", { name: "Delete organization" }));
  const dialog = within(await screen.findByRole("dialog"));
  return { server, user, dialog, submit: dialog.getByRole("button", { name: "Delete organization" }) };
}

it("says what goes, waits for the name and all proofs, and signs out with a sentence", async () => {
  const { server, user, dialog, submit } = await open({});
  expect(dialog.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "2 agents",
    "1,840 runs",
    "1 API key",
    "your account, because you are in no other organization",
    "1 account of members who are in no other organization",
  ]);
  await user.type(dialog.getByLabelText(/Your password/), "secret");
  await user.type(dialog.getByLabelText(/^Code/), "123456");
  await user.type(dialog.getByLabelText(/Organization name/), "Acm");
  expect(submit.hasAttribute("disabled")).toBe(true);
  await user.type(dialog.getByLabelText(/Organization name/), "e");
  const busy = { detail: "A campaign of this organization is running. Pause it first.", code: "x" };
  const release = server.hold(`POST ${PATH}`, { status: 409, body: busy });
  await user.click(submit);
  await waitFor(() => expect(submit.hasAttribute("data-loading")).toBe(true));
  release();
  expect(await dialog.findByText(busy.detail)).toBeTruthy();
  expect(currentToken()).not.toBeNull();
  server.on(`POST ${PATH}`, { body: { deletion_id: 1, deleted_own_account: true } });
  await user.click(submit);
  await waitFor(() => expect(currentToken()).toBeNull());
  const body = { name: "Acme", current_password: "secret", code: "123456" };
  expect(server.sent.at(-1)).toEqual({ route: `POST ${PATH}`, body });
  expect(farewell()).toBe("Acme is closed, and its data is being deleted. Your account was deleted with it.");
});

it("asks only for what the account has", async () => {
  const { server, user, dialog, submit } = await open({ needs_password: false, needs_code: false });
  expect(dialog.queryByLabelText(/Your password/)).toBeNull();
  expect(dialog.queryByLabelText(/^Code/)).toBeNull();
  await user.type(dialog.getByLabelText(/Organization name/), "Acme");
  server.on(`POST ${PATH}`, { body: { deletion_id: 1, deleted_own_account: false } });
  await user.click(submit);
  await waitFor(() => expect(farewell()).toBe("Acme is closed, and its data is being deleted."));
});

it("says what stands against it, and looks again", async () => {
  const { server, user } = await show({
    refusals: ["organization_has_live_calls", "organization_has_running_campaigns", "superuser_account"],
  });
  expect(await screen.findByText(/Calls are in progress, or a chat is being answered/)).toBeTruthy();
  expect(screen.getByText(/A campaign is running/)).toBeTruthy();
  expect(screen.getByText(/A superuser belongs to this organization only/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Delete organization" })).toBeNull();
  server.on(`GET ${PATH}`, { body: PREVIEW });
  await user.click(screen.getByRole("button", { name: "Check again" }));
  expect(await screen.findByRole("button", { name: "Delete organization" })).toBeTruthy();
});

it.each([{ impersonated: true }, { is_provider_session: true }])("is not there for %o", async (me) => {
  const server = new FakeServer();
  signIn(server, "owner", {});
  let isAnswered = false;
  server.on("GET /api/v1/auth/me", () => {
    isAnswered = true;
    return { body: { ...ME, ...me } };
  });
  server.on(`GET ${PATH}`, { body: PREVIEW });
  await renderPart(<DeleteOrganization />, { server });
  await waitFor(() => expect(isAnswered).toBe(true));
  await Promise.all(network.pending);
  expect(screen.queryByText("Delete organization")).toBeNull();
});
