import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { SecondFactorPanel } from "./second-factor-panel";

const PATH = "/api/v1/auth/second-factor";
const OFF = { is_enabled: false, enabled_at: null, recovery_codes_left: 0, due_at: null };
const ON = { ...OFF, is_enabled: true, enabled_at: "2026-01-01T00:00:00Z", recovery_codes_left: 2 };

it("is set up with a password, a QR code and a first code, and shows the recovery codes once", async () => {
  const server = new FakeServer();
  server.on(`GET ${PATH}`, { body: OFF });
  server.on(`POST ${PATH}/enrollment`, {
    body: { secret: "ABCD", uri: "otpauth://x", qr_code: "data:image/svg+xml,x" },
  });
  const { user } = await renderPart(<SecondFactorPanel />, { server });
  await user.type(await screen.findByLabelText(/Your password/), "correct horse");
  await user.click(screen.getByRole("button", { name: "Set up" }));
  expect((await screen.findByRole("img", { name: /QR code/ })).getAttribute("src")).toBe("data:image/svg+xml,x");
  expect(screen.getByText("ABCD")).toBeTruthy();
  server.on(`POST ${PATH}/confirmation`, { status: 403, body: { detail: "This code is wrong.", code: "wrong_code" } });
  await user.type(screen.getByLabelText(/^Code/), "123456");
  await user.click(screen.getByRole("button", { name: "Turn on" }));
  expect(await screen.findByText("This code is wrong.")).toBeTruthy();
  server.on(`POST ${PATH}/confirmation`, { body: { recovery_codes: ["aaaa-bbbb-cccc-dddd"] } });
  await user.click(screen.getByRole("button", { name: "Turn on" }));
  expect(await screen.findByText("aaaa-bbbb-cccc-dddd")).toBeTruthy();
  server.on(`GET ${PATH}`, { body: ON });
  await user.click(screen.getByRole("button", { name: "I saved them" }));
  expect(await screen.findByRole("button", { name: "Turn off" })).toBeTruthy();
  expect(server.sent[0]).toEqual({ route: `POST ${PATH}/enrollment`, body: { current_password: "correct horse" } });
});

it("is turned off with a code", async () => {
  const server = new FakeServer();
  server.on(`GET ${PATH}`, { body: ON });
  server.on(`POST ${PATH}/removal`, { body: { success: true } });
  const { user } = await renderPart(<SecondFactorPanel />, { server });
  expect(await screen.findByText(/few recovery codes left/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Turn off" }));
  await user.type(await screen.findByLabelText(/^Code/), "123456{Enter}");
  server.on(`GET ${PATH}`, { body: OFF });
  await waitFor(() => expect(server.sent).toEqual([{ route: `POST ${PATH}/removal`, body: { code: "123456" } }]));
});
