import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Template } from "../../lib/api/types";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { NewAgent } from "./new-agent";

const WRITE = "POST /api/v1/workflow/create/template";
const CREATE = "POST /api/v1/workflow/templates/support_triage/create";

const TRIAGE: Template = {
  id: "support_triage",
  title: "Support triage",
  summary: "Finds out what is broken, and transfers callers.",
  agent_name: "Support line",
  call_type: "inbound",
  works_offline: true,
  before_use: "Put your number into the tool.",
  documents: ["Troubleshooting guide"],
  tools: ["Transfer to support"],
  scenario_count: 5,
  nodes: [
    { id: "greeting", type: "startCall", name: "Greeting", x: 0, y: 0 },
    { id: "fix", type: "agentNode", name: "Fix", x: 420, y: 260 },
    { id: "bye", type: "endCall", name: "Goodbye", x: 0, y: 520 },
  ],
  edges: [
    { source: "greeting", target: "fix" },
    { source: "fix", target: "bye" },
    { source: "fix", target: "greeting" },
    { source: "fix", target: "fix" },
  ],
};

function serverWith(provider: string): FakeServer {
  return new FakeServer()
    .on("GET /api/v1/workflow/templates", {
      body: [TRIAGE, { ...TRIAGE, id: "survey", title: "Survey", works_offline: false }],
    })
    .on("GET /api/v1/organizations/model-configurations/v2", { body: { effective: { llm: { provider } } } });
}

async function renderDialog(provider = "builtin") {
  return renderPart(<NewAgent isOpen onClose={() => undefined} />, { server: serverWith(provider) });
}

it("shows every template with its picture and whether it works offline", async () => {
  await renderDialog();
  const gallery = await screen.findByRole("list", { name: "Templates" });
  const triage = await within(gallery).findByRole("button", { name: /Support triage/ });
  expect(triage.textContent).toContain("Finds out what is broken");
  expect(triage.textContent).toContain("Works offline");
  expect(triage.textContent).toContain("Answers calls");
  expect(triage.querySelectorAll("rect")).toHaveLength(3);
  expect(triage.querySelector("rect")?.parentElement?.querySelectorAll("path")).toHaveLength(3);
  expect(within(gallery).getByRole("button", { name: /Survey/ }).textContent).not.toContain("Works offline");
});

it("creates an agent from a template, under a name of its own", async () => {
  const { user, server } = await renderDialog();
  server.refuse(CREATE, ["name"], "string_too_long", "at most 200 characters", 200);
  await user.click(await screen.findByRole("button", { name: /Support triage/ }));
  expect(screen.getByText("Adds the document “Troubleshooting guide” to your knowledge base")).toBeTruthy();
  expect(screen.getByText("Adds the tool “Transfer to support”")).toBeTruthy();
  expect(screen.getByText("Put your number into the tool.", { exact: false })).toBeTruthy();
  const name = screen.getByRole("textbox", { name: /Name/ });
  expect(name).toHaveProperty("value", "Support line");
  await user.type(name, " 2");
  await user.click(screen.getByRole("button", { name: "Create agent" }));
  expect(await screen.findByText("Name must have at most 200 characters.")).toBeTruthy();
  expect(server.sent).toEqual([{ route: CREATE, body: { name: "Support line 2" } }]);
});

it("goes back to all templates", async () => {
  const { user } = await renderDialog();
  await user.click(await screen.findByRole("button", { name: /Support triage/ }));
  await user.click(screen.getByRole("button", { name: "All templates" }));
  expect(await screen.findByRole("button", { name: /Survey/ })).toBeTruthy();
});

it("sends the name of a small agent", async () => {
  const { user, server } = await renderDialog();
  server.refuse("POST /api/v1/workflow/create/definition", ["name"], "string_too_long", "at most 200 characters", 200);
  await user.click(await screen.findByLabelText("Simple agent"));
  await user.type(await screen.findByRole("textbox", { name: /Name/ }), "Reception");
  await user.click(screen.getByRole("button", { name: "Create" }));
  expect(await screen.findByText("Name must have at most 200 characters.")).toBeTruthy();
  expect(server.sent.map(({ body }) => body)).toMatchObject([{ name: "Reception" }]);
});

it("offers a description only where a model can write", async () => {
  await renderDialog("builtin");
  await screen.findByRole("button", { name: /Support triage/ });
  expect(screen.queryByLabelText("From a description")).toBeNull();
});

it("sends what an agent is for, and says at the field what is wrong", async () => {
  const { user, server } = await renderDialog("openai");
  server.refuse(WRITE, ["activity_description"], "string_too_short", "at least 20 characters", 20);
  await user.click(await screen.findByLabelText("From a description"));
  await user.type(screen.getByRole("textbox", { name: /Use case/ }), "Appointments");
  expect(screen.getByRole("button", { name: "Generate" })).toHaveProperty("disabled", true);
  await user.type(screen.getByRole("textbox", { name: /What the agent does/ }), "Books");
  await user.click(screen.getByRole("button", { name: "Generate" }));
  expect(await screen.findByText("What the agent does must have at least 20 characters.")).toBeTruthy();
  const body = { call_type: "inbound", use_case: "Appointments", activity_description: "Books" };
  await waitFor(() => expect(server.sent).toEqual([{ route: WRITE, body }]));
});
