import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Role } from "../../../lib/api/types";
import { useOrganizationContext } from "../../../lib/organization/organization-context";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { CallReplay, describeReplay } from "./call-replay";

const ROUTE = "POST /api/v1/workflow/3/runs/20/replay";
const RUN = { id: 20, status: "completed", has_journal: true };
const AGENT = "GET /api/v1/workflow/fetch/3";
const SAME = {
  run_id: 20,
  version_number: 4,
  is_same: true,
  is_exact: true,
  events: 12,
  hash: "abc",
  first_difference: null,
};
const DIFFERENCE = {
  turn: 2,
  node_id: "ask",
  node: "Ask",
  at_ms: 64_120,
  what: "agent_said",
  expected: "text: Hello.",
  came: "text: Good day.",
};

/** Tells that the role has come. */
function WhoIsThere() {
  return <p>You are a {useOrganizationContext().data?.role ?? "stranger"}</p>;
}

interface Setting {
  run?: typeof RUN;
  role?: Role;
  hasDraft?: boolean;
}

async function renderReplay({ run = RUN, role = "member", hasDraft = true }: Setting = {}) {
  const server = new FakeServer();
  server.on(AGENT, { body: { has_draft: hasDraft, version_number: 4, published_version_number: 3 } });
  signIn(server, role);
  const onTurn = vi.fn();
  const part = (
    <>
      <CallReplay agentId={3} run={run} onTurn={onTurn} />
      <WhoIsThere />
    </>
  );
  return { ...(await renderPart(part, { server })), onTurn };
}

it("says that the call is the same", async () => {
  const { user, server } = await renderReplay();
  server.on(ROUTE, { body: SAME });
  await user.click(await screen.findByRole("button", { name: "Replay with the draft" }));
  expect(await screen.findByText("No difference with version 4")).toBeTruthy();
});

it("shows the first difference and leads to its turn", async () => {
  const { user, server, onTurn } = await renderReplay();
  server.on(ROUTE, { body: { ...SAME, is_same: false, first_difference: DIFFERENCE } });
  await user.click(await screen.findByRole("button", { name: "Replay with the draft" }));
  const answer = await screen.findByRole("status");
  expect(answer.textContent).toContain("Different with version 4");
  expect(answer.textContent).toContain("Turn 2, Ask, 1:04");
  expect(answer.textContent).toContain("text: Good day.");
  await user.click(screen.getByRole("button", { name: "Turn 2" }));
  expect(onTurn).toHaveBeenCalledWith(2);
});

it("has no turn to lead to before the caller spoke", async () => {
  const { user, server } = await renderReplay();
  server.on(ROUTE, { body: { ...SAME, is_same: false, first_difference: { ...DIFFERENCE, turn: 0 } } });
  await user.click(await screen.findByRole("button", { name: "Replay with the draft" }));
  expect((await screen.findByRole("status")).textContent).toContain("Before the first turn, Ask");
  expect(screen.queryByRole("button", { name: /^Turn/ })).toBeNull();
});

it("plays the published version where there is no draft", async () => {
  const { user, server } = await renderReplay({ hasDraft: false });
  server.on(`${ROUTE}?version=3`, { body: { ...SAME, version_number: 3 } });
  await user.click(await screen.findByRole("button", { name: "Replay with the published version (v3)" }));
  expect(await screen.findByText("No difference with version 3")).toBeTruthy();
});

it("says why a call cannot be replayed", async () => {
  const { user, server } = await renderReplay();
  server.on(ROUTE, { status: 409, body: { detail: "This agent has no draft.", code: "no_draft" } });
  await user.click(await screen.findByRole("button", { name: "Replay with the draft" }));
  expect((await screen.findByRole("alert")).textContent).toBe("This agent has no draft.");
});

it.each<{ why: string; run: typeof RUN; role: Role }>([
  { why: "the call goes on", run: { ...RUN, status: "in_progress" }, role: "member" },
  { why: "the call has no journal", run: { ...RUN, has_journal: false }, role: "member" },
  { why: "the reader may not change the agent", run: RUN, role: "viewer" },
])("is not there when $why", async ({ run, role }) => {
  await renderReplay({ run, role });
  expect(await screen.findByText(`You are a ${role}`)).toBeTruthy();
  expect(screen.queryByRole("button", { name: /^Replay/ })).toBeNull();
});

it("compares nothing with a call that is not the same with its own version", () => {
  expect(describeReplay({ is_same: false, is_exact: false, version_number: 4 })).toContain("cannot be compared");
});
