import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../testing/render";
import { WebhookForm } from "./webhook-form";

const SAVE = "POST /api/v1/organizations/webhooks";
const form = (onMade: (secret: string) => void = () => undefined) => (
  <WebhookForm webhook={null} events={["run.completed"]} onClose={() => undefined} onMade={onMade} />
);

it("sends an address for all events, and hands over the secret", async () => {
  const onMade = vi.fn();
  const { user, server } = await renderPart(form(onMade));
  server.on(SAVE, { body: { secret: "whsec" } });
  await user.type(await screen.findByLabelText(/^URL/), "https://example.com/hook");
  await user.click(screen.getByRole("button", { name: "Add webhook" }));
  await waitFor(() => expect(onMade).toHaveBeenCalledWith("whsec"));
  expect(server.sent).toEqual([
    { route: SAVE, body: { url: "https://example.com/hook", events: [], description: null } },
  ]);
});

it("says at the address that it is refused", async () => {
  const { user, server } = await renderPart(form());
  server.on(SAVE, { status: 422, body: { detail: "That address is private.", code: "webhook_url_refused" } });
  await user.click(await screen.findByRole("button", { name: "Add webhook" }));
  expect(await screen.findByText("That address is private.")).toBeTruthy();
  expect(screen.getByLabelText(/^URL/).getAttribute("aria-invalid")).toBe("true");
});
