import { screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { currentToken } from "../../lib/api/session";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { ProviderCallbackPage } from "./provider-callback-page";
import { SignInPage } from "./sign-in-page";

const START = "POST /api/v1/auth/provider/start";
const FINISH = "POST /api/v1/auth/provider/finish";
const CALLBACK = "/sign-in/callback";
const KEY = "offhook.provider-sign-in.s0";

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

it("keeps the secret of a sign-in in this tab, by its state", async () => {
  const server = new FakeServer();
  server.on(START, { body: { authorization_url: "https://id.example/auth?state=s0", secret: "b0" } });
  const { user } = await renderPart(<SignInPage />, { path: "/sign-in", search: "?next=%2Fruns", server });
  await user.click(await screen.findByRole("button", { name: "Sign in with your organization" }));
  await user.type(await screen.findByLabelText(/Sign-in name/), "Acme");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  await waitFor(() => expect(sessionStorage.getItem(KEY)).toBe(JSON.stringify({ secret: "b0", next: "/runs" })));
  expect(server.sent.at(-1)).toEqual({ route: START, body: { sign_in_name: "Acme" } });
  expect(localStorage.getItem("offhook.sign-in-name")).toBe("acme");
});

it("opens no address but one of the web", async () => {
  const server = new FakeServer();
  server.on(START, { body: { authorization_url: "javascript:alert(1)//?state=s0", secret: "b0" } });
  const { user } = await renderPart(<SignInPage />, { path: "/sign-in", search: "?organization=acme", server });
  expect((await screen.findByLabelText(/Sign-in name/)).getAttribute("value")).toBe("acme");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  expect((await screen.findByRole("alert")).textContent).toBe("This provider cannot be opened.");
  expect(sessionStorage.length).toBe(0);
});

it("hands the answer in with the secret, once", async () => {
  sessionStorage.setItem(KEY, JSON.stringify({ secret: "b0" }));
  const server = new FakeServer();
  server.on(FINISH, { body: { token: "t0", user: {} } });
  await renderPart(<ProviderCallbackPage />, {
    path: CALLBACK,
    search: "?code=c0&state=s0&iss=https%3A%2F%2Fid",
    server,
  });
  expect(await screen.findByText("elsewhere")).toBeTruthy();
  expect(server.sent).toEqual([{ route: FINISH, body: { code: "c0", state: "s0", secret: "b0", iss: "https://id" } }]);
  expect(currentToken()).toBe("t0");
  expect(sessionStorage.getItem(KEY)).toBeNull();
});

it("asks for the code of people with two-step sign-in", async () => {
  sessionStorage.setItem(KEY, JSON.stringify({ secret: "b0" }));
  const server = new FakeServer();
  server.on(FINISH, { body: { challenge: "c0", expires_at: "2026-01-01T00:00:00Z" } });
  await renderPart(<ProviderCallbackPage />, { path: CALLBACK, search: "?code=c0&state=s0", server });
  expect(await screen.findByLabelText(/^Code/)).toBeTruthy();
});

it("sends nothing for an answer that another browser waits for", async () => {
  const { server } = await renderPart(<ProviderCallbackPage />, { path: CALLBACK, search: "?code=c0&state=s0" });
  expect((await screen.findByRole("alert")).textContent).toContain("started in another browser");
  expect(server.sent).toEqual([]);
  expect(screen.getByRole("link", { name: "Start again" })).toBeTruthy();
});

it("says what the provider refused", async () => {
  sessionStorage.setItem(KEY, JSON.stringify({ secret: "b0" }));
  const { server } = await renderPart(<ProviderCallbackPage />, {
    path: CALLBACK,
    search: "?error=access_denied&state=s0",
  });
  expect((await screen.findByRole("alert")).textContent).toContain("access denied");
  expect(server.sent).toEqual([]);
});
