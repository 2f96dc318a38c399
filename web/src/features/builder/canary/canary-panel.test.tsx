import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Agent } from "../../../lib/api/types";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { CanaryPanel } from "./canary-panel";

const SHARE = "PUT /api/v1/workflow/4/canary";
const END = "POST /api/v1/workflow/4/canary/end";
const side = (calls: number, success: number) => ({
  calls,
  success_rate: success,
  failure_rate: 0.02,
  complaint_rate: 0,
  median_seconds: 61.4,
  median_answer_ms: 810,
  median_cost_cents: 12,
});
const CANARY = {
  id: 1,
  workflow_id: 4,
  state: "running",
  share: 10,
  version_number: 3,
  old_version_number: 2,
  reason: null,
  explanation: null,
  evidence: {
    pairs: 40,
    difference: -0.1,
    decision: "go_on",
    reason: "not_enough_calls",
    odds: { less_success: 31.2 },
    earlier_calls: 500,
    old: side(1400, 0.81),
    new: side(140, 0.7),
  },
  started_at: new Date().toISOString(),
  ended_at: null,
};

async function renderPanel(answer: Parameters<FakeServer["on"]>[1], canEdit = true) {
  const server = new FakeServer().on("GET /api/v1/workflow/4/canary", answer);
  signIn(server, "member");
  const editor = { agent: { id: 4, name: "Front desk", version_number: 3 } as Agent, canEdit } as unknown as Editor;
  return renderPart(
    <EditorProvider value={editor}>
      <CanaryPanel />
    </EditorProvider>,
    { server },
  );
}

it("shows both versions side by side, and what may be wrong", async () => {
  await renderPanel({ body: CANARY });
  expect(await screen.findByText(/Version 3 gets 10% of calls, and version 2 gets the rest/)).toBeTruthy();
  expect(screen.getByText(/may be lower: chance alone would produce this 1 time in 31/)).toBeTruthy();
  const row = screen.getByRole("row", { name: /Success/ });
  expect(row.textContent).toBe("Success rate81%70%");
});

it("ends it by hand with a reason", async () => {
  const { user, server } = await renderPanel({ body: CANARY });
  await user.click(await screen.findByRole("button", { name: "Go back to v2" }));
  const back = await screen.findByRole("button", { name: "Go back" });
  expect(back).toHaveProperty("disabled", true);
  await user.type(screen.getByRole("textbox", { name: "Reason" }), "Too curt");
  server.on(END, { body: { ...CANARY, state: "rolled_back", explanation: "Too curt" } });
  await user.click(back);
  await waitFor(() => expect(server.sent).toEqual([{ route: END, body: { decision: "back", reason: "Too curt" } }]));
});

it("changes the share of a running one", async () => {
  const { user, server } = await renderPanel({ body: CANARY });
  await user.click(await screen.findByRole("button", { name: "Change share" }));
  const field = await screen.findByRole("textbox", { name: "Share of calls" });
  const [change] = screen.getAllByRole("button", { name: "Change share" }).slice(-1);
  expect(change).toHaveProperty("disabled", true);
  await user.clear(field);
  await user.type(field, "60");
  expect(screen.getByText("Enter 1 to 50%.")).toBeTruthy();
  expect(change).toHaveProperty("disabled", true);
  await user.clear(field);
  await user.type(field, "25");
  server.on(SHARE, { body: { ...CANARY, share: 25 } });
  await user.click(change as HTMLElement);
  await waitFor(() => expect(server.sent).toEqual([{ route: SHARE, body: { share: 25 } }]));
});

it("says why it ended, to those who only read too", async () => {
  await renderPanel(
    { body: { ...CANARY, state: "rolled_back", explanation: "Success fell: 70 % against 81 %." } },
    false,
  );
  expect(await screen.findByText("Success fell: 70 % against 81 %.")).toBeTruthy();
  expect(screen.getByText("Rolled back")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});

it("is not there without a canary", async () => {
  const asked = vi.fn(() => ({ body: null }));
  await renderPanel(asked);
  await waitFor(() => expect(asked).toHaveBeenCalled());
  expect(screen.queryByRole("region", { name: "Canary" })).toBeNull();
});
