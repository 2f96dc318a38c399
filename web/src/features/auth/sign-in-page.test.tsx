import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { SignInPage } from "./sign-in-page";

const LOGIN = "POST /api/v1/auth/login";

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

it("says at the field what is missing in a new account", async () => {
  const { user, server } = await fillIn();
  server.refuse(
    "POST /api/v1/auth/signup",
    ["password"],
    "string_too_short",
    "String should have at least 20 chars",
    20,
  );
  await user.click(screen.getByRole("button", { name: "Create an account" }));
  await user.click(screen.getByRole("button", { name: "Create account" }));
  const field = screen.getByLabelText(/Password/);
  expect(await screen.findByText("Password must have at least 20 characters.")).toBeTruthy();
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(server.sent.map(({ body }) => body)).toEqual([{ email: "ann@example.com", password: "correct horse" }]);
});
