import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { AccountPanel } from "./account-panel";

const NUMBER = { id: 1, address: "+12015550123", address_normalized: "+12015550123", label: null, is_active: true };

async function renderAccount(fields: object[]) {
  const server = new FakeServer()
    .on("GET /api/v1/organizations/telephony-configs/7/phone-numbers", { body: { phone_numbers: [NUMBER] } })
    .on("GET /api/v1/workflow/summary", { body: [] });
  signIn(server, "admin");
  const account = {
    id: 7,
    name: "Front",
    provider: "acme",
    is_managed: false,
    inactive: false,
    outbound_blocked_reason: null,
  } as never;
  const carrier = { provider: "acme", display_name: "Acme", fields } as never;
  const nothing = () => undefined;
  const part = <AccountPanel account={account} carrier={carrier} onEdit={nothing} onBuy={nothing} />;
  const rendered = await renderPart(part, { server });
  return { ...rendered, add: await screen.findByRole("button", { name: "Add a number" }) };
}

it("adds further numbers with a button, and checks credentials", async () => {
  const { user, add } = await renderAccount([{ name: "auth_token" }]);
  expect(screen.getByRole("button", { name: "Check credentials: Front" })).toBeTruthy();
  await user.click(add);
  expect(await screen.findByRole("dialog", { name: "Add a number" })).toBeTruthy();
});

it("checks no credentials of a carrier that has none", async () => {
  await renderAccount([]);
  expect(screen.queryByRole("button", { name: /^Check credentials/ })).toBeNull();
});
