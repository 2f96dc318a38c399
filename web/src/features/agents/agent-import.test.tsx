import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { AgentImport } from "./agent-import";

const ROUTE = "POST /api/v1/workflow/import";
const FILE = { format: "offhook.agent", version: 1, name: "Orders", workflow_definition: { nodes: [], edges: [] } };
const IMPORTED = { workflow: { id: 7, name: "Orders" }, created_tools: [] as string[], missing: [] as object[] };

async function renderImport(server: FakeServer) {
  const open = vi.fn();
  const { user } = await renderPart(<AgentImport onOpen={open} onClose={() => undefined} />, { server });
  const choose = (text: string) =>
    user.upload(screen.getByLabelText("Agent file"), new File([text], "a.json", { type: "application/json" }));
  return { user, open, choose };
}

it("sends the file and opens the agent", async () => {
  const server = new FakeServer().on(ROUTE, { body: IMPORTED });
  const { open, choose } = await renderImport(server);
  await choose(JSON.stringify(FILE));
  await vi.waitFor(() => expect(open).toHaveBeenCalledWith(IMPORTED.workflow));
  expect(server.sent).toEqual([{ route: ROUTE, body: FILE }]);
});

it("says what is missing before it opens", async () => {
  const missing = [{ kind: "credential", name: "CRM", message: "Add this credential and choose it." }];
  const server = new FakeServer().on(ROUTE, { body: { ...IMPORTED, created_tools: ["Find order"], missing } });
  const { user, open, choose } = await renderImport(server);
  await choose(JSON.stringify(FILE));
  expect(await screen.findByText(/with 1 new tool: Find order/)).toBeTruthy();
  expect(screen.getByText(/Add this credential and choose it/)).toBeTruthy();
  expect(open).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Open the agent" }));
  expect(open).toHaveBeenCalledWith(IMPORTED.workflow);
});

it("sends nothing that is no agent, and shows what the server refuses", async () => {
  const server = new FakeServer().refuse(ROUTE, ["version"], "agent_file_version", "This server reads version 1.");
  const { choose } = await renderImport(server);
  await choose("phone_number\n+1");
  expect((await screen.findByRole("alert")).textContent).toContain("not JSON");
  await choose("[]");
  expect(await screen.findByText(/has no agent/)).toBeTruthy();
  expect(server.sent).toEqual([]);
  await choose(JSON.stringify({ ...FILE, version: 2 }));
  expect(await screen.findByText(/This server reads version 1/)).toBeTruthy();
});
