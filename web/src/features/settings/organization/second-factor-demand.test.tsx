import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { SecondFactorDemand } from "./second-factor-demand";

const PATH = "/api/v1/organizations/second-factor-demand";

it("demands two-step sign-in after a grace, and ends the demand", async () => {
  const server = new FakeServer();
  server.on(`GET ${PATH}`, { body: { due_at: null, members_without: 3 } });
  server.on(`PUT ${PATH}`, (body) => ({ body: { ...(body as object), members_without: 3 } }));
  const { user } = await renderPart(<SecondFactorDemand />, { server });
  expect(await screen.findByText(/3 members do not have it yet/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Require two-step sign-in" }));
  await user.click(await screen.findByRole("button", { name: "Stop requiring it" }));
  await waitFor(() => expect(server.sent).toHaveLength(2));
  const [first, second] = server.sent.map(({ body }) => (body as { due_at: string | null }).due_at);
  const days = (Date.parse(first ?? "") - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThanOrEqual(7);
  expect(second).toBeNull();
});

it("refuses a grace that is too long, and keeps what was typed", async () => {
  const server = new FakeServer();
  server.on(`GET ${PATH}`, { body: { due_at: null, members_without: 3 } });
  const { user } = await renderPart(<SecondFactorDemand />, { server });
  const field = await screen.findByLabelText("Grace period");
  await user.clear(field);
  await user.type(field, "120");
  await user.tab();
  expect((field as HTMLInputElement).value).toBe("120 days");
  expect(screen.getByText("Enter 0 to 89 days.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Require two-step sign-in" }));
  expect(server.sent).toHaveLength(0);
});
