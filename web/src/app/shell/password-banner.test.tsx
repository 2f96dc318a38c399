import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { PasswordBanner } from "./password-banner";

const account = (more: object = {}) => ({
  user: { id: 1 },
  has_password: false,
  impersonated: false,
  is_provider_session: false,
  ...more,
});

function serve(more: object = {}): FakeServer {
  const server = new FakeServer().on("GET /api/v1/auth/me", { body: account(more) });
  signIn(server, "owner");
  return server;
}

beforeEach(() => localStorage.clear());
afterEach(() => vi.useRealTimers());

it("asks who came by a link for a password, until they put it off", async () => {
  const { user } = await renderPart(<PasswordBanner />, { server: serve() });
  expect(await screen.findByText(/You have no password yet/)).toBeTruthy();
  expect(screen.getByRole("link", { name: "Set a password" }).getAttribute("href")).toBe("/settings/account");
  await user.click(screen.getByRole("button", { name: "Not now" }));
  await waitFor(() => expect(screen.queryByText(/You have no password yet/)).toBeNull());
});

it("stays away from new tabs too, for a day", async () => {
  const { user } = await renderPart(<PasswordBanner />, { server: serve() });
  await user.click(await screen.findByRole("button", { name: "Not now" }));
  cleanup();
  // What a new tab has, too.
  sessionStorage.clear();
  let isAsked = false;
  const server = serve().on("GET /api/v1/auth/me", () => {
    isAsked = true;
    return { body: account() };
  });
  await renderPart(<PasswordBanner />, { server });
  await waitFor(() => expect(isAsked).toBe(true));
  expect(screen.queryByText(/You have no password yet/)).toBeNull();
  cleanup();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 3_600_000 });
  await renderPart(<PasswordBanner />, { server: serve() });
  expect(await screen.findByText(/You have no password yet/)).toBeTruthy();
});

it.each([{ has_password: true }, { impersonated: true }, { is_provider_session: true }, { user: null }])(
  "leaves others alone: %j",
  async (more) => {
    const server = serve(more);
    let isAsked = false;
    server.on("GET /api/v1/auth/me", () => {
      isAsked = true;
      return { body: account(more) };
    });
    await renderPart(<PasswordBanner />, { server });
    await waitFor(() => expect(isAsked).toBe(true));
    expect(screen.queryByText(/You have no password yet/)).toBeNull();
  },
);
