import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import type { Campaign } from "../api";
import { CallMeForm } from "./call-me-first";

const CALL = "POST /api/v1/campaign/5/test-call";
const CAMPAIGN = { id: 5, name: "Spring" } as unknown as Campaign;

it("calls one's own number and leads to the call", async () => {
  const { user, server } = await renderPart(<CallMeForm campaign={CAMPAIGN} onClose={() => undefined} />);
  server.on(CALL, { body: { run_id: 8, workflow_id: 3, status: "initiated" } });
  await user.type(await screen.findByRole("textbox", { name: /^Your number/ }), "+14155550123");
  await user.click(screen.getByRole("button", { name: "Call me" }));
  const link = await screen.findByRole("link", { name: "Follow the call" });
  expect(link.getAttribute("href")).toBe("/agents/3/runs/8");
  await waitFor(() => expect(server.sent).toEqual([{ route: CALL, body: { phone_number: "+14155550123" } }]));
});

it("shows at the number why it cannot be called", async () => {
  const { user, server } = await renderPart(<CallMeForm campaign={CAMPAIGN} onClose={() => undefined} />);
  server.refuse(CALL, ["phone_number"], "value_error", "Value error, 'me' is not a phone number in E.164");
  await user.type(await screen.findByRole("textbox", { name: /^Your number/ }), "me");
  await user.click(screen.getByRole("button", { name: "Call me" }));
  expect(await screen.findByText(/is not a phone number/)).toBeTruthy();
});
