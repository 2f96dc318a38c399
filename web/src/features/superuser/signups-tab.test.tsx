import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { SignupsTab } from "./signups-tab";

const REQUESTS = "GET /api/v1/superuser/signup-requests";
const LINKS = "POST /api/v1/superuser/sign-in-links";

it("lets somebody in with a link that is shown once", async () => {
  const server = new FakeServer();
  const waiting = { id: 3, email: "ann@example.com", name: "Ann", organization_name: null, ip: "203.0.113.7" };
  server.on(REQUESTS, { body: { requests: [{ ...waiting, created_at: "2026-01-01T00:00:00Z" }] } });
  server.on(LINKS, {
    body: {
      email: "ann@example.com",
      url: "https://x.example/sign-in?token=t",
      token: "t",
      expires_at: "2026-01-02T00:00:00Z",
    },
  });
  const { user } = await renderPart(<SignupsTab />, { server });
  server.on(REQUESTS, { body: { requests: [] } });
  await user.click(await screen.findByRole("button", { name: "Create a link for ann@example.com" }));
  expect(await screen.findByText(/Send it to ann@example.com/)).toBeTruthy();
  expect(await screen.findByText("No requests")).toBeTruthy();
  expect(server.sent).toEqual([{ route: LINKS, body: { email: "ann@example.com" } }]);
});
