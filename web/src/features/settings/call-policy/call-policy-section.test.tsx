import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { chooseOption, renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import CallPolicySection from "./call-policy-section";

const PUT = "PUT /api/v1/organizations/call-policy";
const POLICY = {
  countries: null,
  allows_premium: false,
  allows_satellite: false,
  allows_high_risk: false,
  max_cents_per_minute: null,
  max_live_calls_per_caller: null,
  max_hourly_calls_per_caller: null,
};
const BLOCKED = {
  id: 7,
  phone_number: "+12015550199",
  reason: null,
  created_by: 1,
  created_at: "2026-03-01T00:00:00Z",
};

async function renderSection(role: "viewer" | "admin" = "admin") {
  const server = new FakeServer();
  signIn(server, role);
  server.on("GET /api/v1/organizations/call-policy", { body: POLICY });
  server.on("GET /api/v1/organizations/blocked-callers", {
    body: { entries: [BLOCKED], total_count: 1, page: 1, limit: 25, total_pages: 1 },
  });
  const rendered = await renderPart(<CallPolicySection />, { server });
  await screen.findByText("+12015550199");
  return rendered;
}

it("sends the whole policy, and null for what is left empty", async () => {
  const { user, server } = await renderSection();
  server.on(PUT, { body: POLICY });
  await chooseOption(user, "Countries", "United States (US)");
  await chooseOption(user, "Countries", "Canada (CA)");
  await user.click(screen.getByRole("checkbox", { name: "Allow premium numbers" }));
  await user.type(screen.getByRole("textbox", { name: "Concurrent calls per caller" }), "2");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const body = { ...POLICY, countries: ["US", "CA"], allows_premium: true, max_live_calls_per_caller: 2 };
  await waitFor(() => expect(server.sent).toEqual([{ route: PUT, body }]));
});

it("blocks and unblocks a caller", async () => {
  const { user, server } = await renderSection();
  const post = "POST /api/v1/organizations/blocked-callers";
  server.on(post, { body: BLOCKED }).on("DELETE /api/v1/organizations/blocked-callers/7", { body: {} });
  await user.click(screen.getByRole("button", { name: "Block a caller" }));
  await user.type(await screen.findByRole("textbox", { name: "Number" }), "+12015550199");
  await user.click(screen.getByRole("button", { name: "Block" }));
  await waitFor(() => expect(server.sent[0]?.body).toEqual({ phone_number: "+12015550199", reason: null }));
  await user.click(await screen.findByRole("button", { name: "Unblock +12015550199" }));
  await waitFor(() => expect(server.sent[1]?.route).toBe("DELETE /api/v1/organizations/blocked-callers/7"));
});

it("shows a viewer the policy and nothing to change", async () => {
  await renderSection("viewer");
  expect(screen.queryByRole("button")).toBeNull();
});
