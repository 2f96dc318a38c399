import { useLocation } from "@tanstack/react-router";
import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { Notices } from "../../../components/feedback/notices";
import type { Role } from "../../../lib/api/types";
import { useOrganizationContext } from "../../../lib/organization/organization-context";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { MakeScenario } from "./make-scenario";

const ROUTE = "GET /api/v1/workflow/3/runs/20/scenario";
const CALL = { id: 20, mode: "twilio", status: "completed" };

function Address() {
  const { href } = useLocation();
  return <output aria-label="Address">{href}</output>;
}

/** Tells that the role has come. */
function WhoIsThere() {
  return <p>You are a {useOrganizationContext().data?.role ?? "stranger"}</p>;
}

async function renderButton({ run = CALL, role = "member" }: { run?: typeof CALL; role?: Role } = {}) {
  const server = new FakeServer();
  signIn(server, role);
  const part = (
    <>
      <MakeScenario agentId={3} run={run} />
      <Address />
      <WhoIsThere />
      <Notices />
    </>
  );
  return renderPart(part, { server, path: "/agents/$agentId" });
}

it("opens the scenario on the page of the agent", async () => {
  const { user, server } = await renderButton();
  server.on(ROUTE, { body: { name: "call-20" } });
  await user.click(await screen.findByRole("button", { name: "Make a scenario from this call" }));
  await waitFor(() =>
    expect(screen.getByRole("status", { name: "Address" }).textContent).toBe("/agents/3?scenario_from=20"),
  );
  expect(server.sent).toEqual([]);
});

it("says why a run gives no scenario, and stays", async () => {
  const { user, server } = await renderButton();
  const before = screen.getByRole("status", { name: "Address" }).textContent;
  server.on(ROUTE, { status: 409, body: { detail: "This agent keeps nothing.", code: "run_not_kept" } });
  await user.click(await screen.findByRole("button", { name: "Make a scenario from this call" }));
  expect(await screen.findByText("This agent keeps nothing.")).toBeTruthy();
  expect(screen.getByRole("status", { name: "Address" }).textContent).toBe(before);
});

it("names a chat what it is", async () => {
  await renderButton({ run: { ...CALL, mode: "textchat" } });
  expect(await screen.findByRole("button", { name: "Make a scenario from this chat" })).toBeTruthy();
});

it.each<{ why: string; run: typeof CALL; role: Role }>([
  { why: "the call goes on", run: { ...CALL, status: "in_progress" }, role: "member" },
  { why: "the reader may not change the agent", run: CALL, role: "viewer" },
])("is not there while $why", async ({ run, role }) => {
  await renderButton({ run, role });
  expect(await screen.findByText(`You are a ${role}`)).toBeTruthy();
  expect(screen.queryByRole("button", { name: /^Make a scenario/ })).toBeNull();
});
