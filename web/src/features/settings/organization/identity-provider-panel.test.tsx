import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { chooseOption, renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { IdentityProviderPanel } from "./identity-provider-panel";

const PATH = "/api/v1/organizations/identity-provider";
const REDIRECT = "https://voice.example/sign-in/callback";
const STORED = {
  sign_in_name: "acme",
  issuer: "https://id.example",
  client_id: "offhook",
  has_client_secret: true,
  email_domains: ["acme.example"],
  joins_as: null,
  is_required: false,
  updated_at: "2026-11-25T00:00:00Z",
};

it("sets a provider up, and shows the redirect URI before", async () => {
  const server = new FakeServer();
  signIn(server, "owner");
  server.on(`GET ${PATH}`, { body: { provider: null, redirect_uri: REDIRECT } });
  server.on(`PUT ${PATH}`, { body: { provider: STORED, redirect_uri: REDIRECT } });
  const { user } = await renderPart(<IdentityProviderPanel />, { server });
  expect(await screen.findByText(REDIRECT)).toBeTruthy();
  await user.type(screen.getByLabelText("Sign-in name"), "acme");
  await user.type(screen.getByLabelText("Issuer"), "https://id.example");
  await user.type(screen.getByLabelText("Client ID"), "offhook");
  await user.type(screen.getByLabelText("Client secret"), "s3cret");
  await user.type(screen.getByRole("combobox", { name: "Email domains" }), "acme.example{Enter}");
  await chooseOption(user, "Who gets in", /as viewers/);
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(server.sent[0]?.body).toEqual({
    sign_in_name: "acme",
    issuer: "https://id.example",
    client_id: "offhook",
    client_secret: "s3cret",
    email_domains: ["acme.example"],
    joins_as: "viewer",
    is_required: false,
  });
});

it("keeps the stored secret, and removes the provider", async () => {
  const server = new FakeServer();
  signIn(server, "owner");
  server.on(`GET ${PATH}`, { body: { provider: STORED, redirect_uri: REDIRECT } });
  server.on(`PUT ${PATH}`, { body: { provider: STORED, redirect_uri: REDIRECT } });
  server.on(`DELETE ${PATH}`, { body: { success: true } });
  const { user } = await renderPart(<IdentityProviderPanel />, { server });
  await user.click(await screen.findByLabelText(/Require it/));
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(server.sent[0]?.body).toMatchObject({ client_secret: null, is_required: true });
  await user.click(screen.getByRole("button", { name: "Remove" }));
  await user.click((await screen.findAllByRole("button", { name: "Remove" })).at(-1) as HTMLElement);
  await waitFor(() => expect(server.sent.at(-1)?.route).toBe(`DELETE ${PATH}`));
});

it("is read by admins and changed by owners", async () => {
  const server = new FakeServer();
  signIn(server, "admin");
  server.on(`GET ${PATH}`, { body: { provider: STORED, redirect_uri: REDIRECT } });
  await renderPart(<IdentityProviderPanel />, { server });
  expect(await screen.findByText(/https:\/\/id.example/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
});
