import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { endSessionWith, farewell, startSession } from "../../lib/api/session";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { SignInPage } from "./sign-in-page";

const LOGIN = "POST /api/v1/auth/login";
const LINK = "POST /api/v1/auth/link";

async function fillIn() {
  const rendered = await renderPart(<SignInPage />, { path: "/sign-in" });
  await rendered.user.type(await screen.findByLabelText(/Email/), "ann@example.com");
  await rendered.user.type(screen.getByLabelText(/Password/), "correct horse");
  return rendered;
}

it("sends what was typed, and is busy until it is answered", async () => {
  const { user, server } = await fillIn();
  const release = server.hold(LOGIN, { body: { token: "t", user: {} } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await waitFor(() =>
    expect(server.sent).toEqual([{ route: LOGIN, body: { email: "ann@example.com", password: "correct horse" } }]),
  );
  expect(screen.getAllByRole("button", { name: "Sign in" })[0]).toHaveProperty("disabled", true);
  release();
  expect(await screen.findByText("elsewhere")).toBeTruthy();
});

it("says beside the fields why nobody was signed in", async () => {
  const { user, server } = await fillIn();
  server.on(LOGIN, { status: 401, body: { detail: "This password is wrong.", code: "wrong" } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect((await screen.findByRole("alert")).textContent).toBe("This password is wrong.");
});

it("says at the fields what is missing, and asks nobody", async () => {
  const { user, server } = await renderPart(<SignInPage />, { path: "/sign-in" });
  await user.click((await screen.findAllByRole("button", { name: "Sign in" }))[0] as HTMLElement);
  expect(await screen.findByText("Email is required.")).toBeTruthy();
  expect(screen.getByText("Password is required.")).toBeTruthy();
  expect(screen.getByLabelText(/Email/).getAttribute("aria-invalid")).toBe("true");
  await user.type(screen.getByLabelText(/Email/), "ann@example.com");
  expect(screen.queryByText("Email is required.")).toBeNull();
  expect(server.sent).toEqual([]);
});

it("says where a new link comes from when the old one does not work", async () => {
  const server = new FakeServer().on(LINK, { status: 401, body: { detail: "It was already used.", code: "used" } });
  await renderPart(<SignInPage />, { server, path: "/sign-in", search: "?token=old" });
  expect((await screen.findByRole("alert")).textContent).toContain("It was already used.");
  expect(screen.getByText("offhook sign-in-link EMAIL")).toBeTruthy();
});

it("says what became of an account or organization, until somebody signs in", async () => {
  startSession("old");
  endSessionWith("Your account is deleted.");
  const { user, server } = await fillIn();
  expect(screen.getByRole("status").textContent).toBe("Your account is deleted.");
  server.on(LOGIN, { body: { token: "t", user: {} } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByText("elsewhere")).toBeTruthy();
  expect(farewell()).toBeNull();
});

it("takes a request for an account where the operator allows it", async () => {
  const SIGNUP = "POST /api/v1/auth/signup";
  const server = new FakeServer();
  server.on("GET /api/v1/health", { body: { signup_enabled: true } });
  const { user } = await renderPart(<SignInPage />, { path: "/sign-in", server });
  await user.click(await screen.findByRole("button", { name: "Request an account" }));
  server.refuse(SIGNUP, ["email"], "missing", "Field required");
  await user.click(screen.getByRole("button", { name: "Send request" }));
  expect(await screen.findByText("Email is required.")).toBeTruthy();
  server.on(SIGNUP, { body: { status: "pending", detail: "The operator sends a link." } });
  await user.type(screen.getByLabelText(/Email/), "ann@example.com");
  await user.click(screen.getByRole("button", { name: "Send request" }));
  expect((await screen.findByRole("status")).textContent).toContain("The operator sends a link.");
  expect(server.sent.at(-1)).toEqual({ route: SIGNUP, body: { email: "ann@example.com" } });
});

it("offers no account where the operator does not", async () => {
  const server = new FakeServer();
  server.on("GET /api/v1/health", { body: { signup_enabled: false } });
  await renderPart(<SignInPage />, { path: "/sign-in", server });
  await screen.findByRole("button", { name: "Sign in" });
  expect(screen.queryByRole("button", { name: "Request an account" })).toBeNull();
});

it("asks for the password that a link sets", async () => {
  const server = new FakeServer();
  server.on(LINK, { status: 422, body: { detail: "Choose a password.", code: "password_missing" } });
  const { user } = await renderPart(<SignInPage />, { path: "/sign-in", search: "?token=t0", server });
  await user.type(await screen.findByLabelText(/New password/), "correct horse");
  server.on(LINK, { body: { token: "t", user: {} } });
  await user.click(screen.getByRole("button", { name: "Save and sign in" }));
  expect(await screen.findByText("elsewhere")).toBeTruthy();
  expect(server.sent.at(-1)).toEqual({ route: LINK, body: { token: "t0", new_password: "correct horse" } });
});

it("asks people with two-step sign-in for a code", async () => {
  const { user, server } = await fillIn();
  const STEP = "POST /api/v1/auth/second-step";
  server.on(LOGIN, { body: { challenge: "c0", expires_at: "2026-01-01T00:00:00Z" } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  await user.type(await screen.findByLabelText(/^Code/), "123456");
  server.on(STEP, { status: 403, body: { detail: "This code is wrong.", code: "wrong_code" } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect((await screen.findByRole("alert")).textContent).toBe("This code is wrong.");
  server.on(STEP, { body: { token: "t", user: {} } });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByText("elsewhere")).toBeTruthy();
  expect(server.sent.at(-1)).toEqual({ route: STEP, body: { challenge: "c0", code: "123456" } });
});

it("takes a link as the first step only", async () => {
  const server = new FakeServer();
  server.on(LINK, { body: { challenge: "c0", expires_at: "2026-01-01T00:00:00Z" } });
  await renderPart(<SignInPage />, { path: "/sign-in", search: "?token=t0", server });
  expect(await screen.findByLabelText(/^Code/)).toBeTruthy();
});
