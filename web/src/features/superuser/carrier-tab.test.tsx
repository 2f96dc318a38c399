import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { CarrierTab } from "./carrier-tab";

const CARRIER = "GET /api/v1/superuser/managed-carrier";
const UPDATE = "PATCH /api/v1/superuser/managed-carrier";
const SUB_ACCOUNTS = "GET /api/v1/superuser/managed-carrier/sub-accounts";
const twilio = { provider: "twilio", account_reference: "AC1", has_sub_accounts: true, uses_sub_accounts: false };
const subAccount = {
  id: 1,
  organization_id: 3,
  organization_name: "Acme",
  provider: "twilio",
  parent_reference: "AC1",
  name: "offhook-3-abc",
  account_reference: "AC2",
  state: "active",
  number_count: 2,
  error: null,
  created_at: "2026-01-01T00:00:00Z",
  closed_at: null,
};

function serverWith(carrier: object, subAccounts: object[]): FakeServer {
  const server = new FakeServer();
  server.on(CARRIER, { body: carrier });
  server.on(SUB_ACCOUNTS, { body: subAccounts });
  return server;
}

const SWITCH = { name: /One sub-account for each organization/ };

it("turns sub-accounts on and shows each organization's", async () => {
  const server = serverWith(twilio, [subAccount]);
  server.on(UPDATE, { body: { ...twilio, uses_sub_accounts: true } });
  const { user } = await renderPart(<CarrierTab />, { server });
  await user.click(await screen.findByRole("switch", SWITCH));
  await waitFor(() => expect(screen.getByRole<HTMLInputElement>("switch", SWITCH).checked).toBe(true));
  expect(server.sent).toEqual([{ route: UPDATE, body: { uses_sub_accounts: true } }]);
  expect(await screen.findByText("Acme")).toBeTruthy();
  expect(screen.getByText("AC2")).toBeTruthy();
});

it("stays off when the carrier refuses", async () => {
  const server = serverWith(twilio, []);
  server.on(UPDATE, { status: 409, body: { detail: "This account is a sub-account.", code: "sub_accounts_refused" } });
  const { user } = await renderPart(<CarrierTab />, { server });
  await user.click(await screen.findByRole("switch", SWITCH));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(screen.getByRole<HTMLInputElement>("switch", SWITCH).checked).toBe(false);
});

it("cannot be turned on for a carrier without sub-accounts", async () => {
  const server = serverWith({ ...twilio, provider: "sandbox", account_reference: null, has_sub_accounts: false }, []);
  await renderPart(<CarrierTab />, { server });
  expect((await screen.findByRole<HTMLInputElement>("switch", SWITCH)).disabled).toBe(true);
  expect(screen.getByText(/^Not available for this carrier/)).toBeTruthy();
});
