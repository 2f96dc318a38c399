import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { AccountForm } from "./account-form";
import type { Carrier } from "./api";

const SAVE = "POST /api/v1/organizations/telephony-configs";
const CARRIERS = [
  {
    provider: "acme",
    display_name: "Acme",
    docs_url: null,
    fields: [
      { name: "account_id", label: "Account", kind: "text", is_required: true, help: "" },
      { name: "auth_token", label: "Token", kind: "secret", is_required: true, help: "" },
    ],
  },
] as unknown as Carrier[];

async function fillIn() {
  const rendered = await renderPart(<AccountForm account={null} carriers={CARRIERS} onClose={() => undefined} />);
  await rendered.user.type(await screen.findByLabelText(/^Account/), "AC1");
  await rendered.user.type(screen.getByLabelText(/^Token/), "s3cret");
  return rendered;
}
const submit = () => screen.getByRole("button", { name: "Check and connect" });

it("sends the fields that the carrier asks for", async () => {
  const { user, server } = await fillIn();
  const release = server.hold(SAVE, { body: {} });
  await user.click(submit());
  const config = { provider: "acme", account_id: "AC1", auth_token: "s3cret" };
  await waitFor(() => expect(server.sent).toEqual([{ route: SAVE, body: { name: "Acme", config } }]));
  expect(submit()).toHaveProperty("disabled", true);
  release();
});

it("opens with the carrier that most people have", async () => {
  const twilio = { provider: "twilio", display_name: "Twilio", docs_url: null, fields: [] } as unknown as Carrier;
  await renderPart(<AccountForm account={null} carriers={[...CARRIERS, twilio]} onClose={() => undefined} />);
  expect(await screen.findByRole("textbox", { name: /^Name/ })).toHaveProperty("value", "Twilio");
});

it("says at a field of the carrier what is wrong, with the carrier's label", async () => {
  const { user, server } = await fillIn();
  server.refuse(SAVE, ["config", "account_id"], "missing", "Field required");
  await user.click(submit());
  expect(await screen.findByText("Account is required.")).toBeTruthy();
});

it("says at the secret that the carrier refused it", async () => {
  const { user, server } = await fillIn();
  server.on(SAVE, { status: 422, body: { detail: "Acme refused them.", code: "credentials_refused" } });
  await user.click(submit());
  expect(await screen.findByText("Acme refused them.")).toBeTruthy();
  expect(screen.getByLabelText(/^Token/).getAttribute("aria-invalid")).toBe("true");
});
