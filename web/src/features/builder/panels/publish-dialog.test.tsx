import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent, Role } from "../../../lib/api/types";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { PublishDialog } from "./publish-dialog";

const PUBLISH = "POST /api/v1/workflow/4/publish";
const step = (prompt: string) => ({
  nodes: [{ id: "a", type: "agentNode", data: { name: "Ask", prompt } }],
  edges: [],
});
const version = (number: number, status: string, prompt: string) => ({
  id: number,
  version_number: number,
  status,
  workflow_json: step(prompt),
  workflow_configurations: {},
  template_context_variables: {},
});

const OPEN_GATE = { is_required: false, min_edge_coverage: 0, may_publish: true, play: null };
const FELL = {
  id: 9,
  state: "failed",
  total: 2,
  done: 2,
  passed: 1,
  error: null,
  created_at: new Date().toISOString(),
  finished_at: new Date().toISOString(),
  verdict: {
    reasons: [{ code: "scenario_failed", message: "Books fails: the agent never said 'day'" }],
    coverage: { edges: { percent: 57.1 } },
  },
};

async function renderDialog(versions: object[], gate: object = OPEN_GATE, role: Role = "admin") {
  const server = new FakeServer()
    .on("GET /api/v1/workflow/4/versions", { body: versions })
    .on("GET /api/v1/workflow/4/publish-gate", { body: gate })
    .on("GET /api/v1/workflow/4/scenarios", { body: { scenarios: [], version_number: 2, revision: 7 } })
    .on("GET /api/v1/workflow/4/scenario-plays", { body: [] });
  signIn(server, role);
  const editor = {
    agent: { id: 4, name: "Front desk", version_number: 2 } as Agent,
    specs: new Map(),
    document: { definition: parse(step("Ask for a day.")), configurations: {}, variables: {} },
    flush: () => Promise.resolve(7),
  } as unknown as Editor;
  const close = vi.fn();
  const refused = vi.fn();
  const rendered = await renderPart(
    <EditorProvider value={editor}>
      <PublishDialog onClose={close} onRefused={refused} />
    </EditorProvider>,
    { server },
  );
  return { ...rendered, close, refused };
}

it("shows what changes for callers, and sends the note", async () => {
  const { user, server, close } = await renderDialog([
    version(2, "draft", "Ask for a day."),
    version(1, "published", "Ask for a time."),
  ]);
  server.on(PUBLISH, { body: { id: 2, workflow_id: 4, version_number: 2, status: "published", published_at: null } });
  expect(await screen.findByText(/1 change since version 1/)).toBeTruthy();
  expect(screen.getByText("Ask for a time.").tagName).toBe("DEL");
  await user.type(screen.getByRole("textbox", { name: "Note" }), " Asks for a day ");
  await user.click(screen.getByRole("button", { name: "Publish" }));
  await waitFor(() => expect(close).toHaveBeenCalledOnce());
  expect(server.sent).toEqual([{ route: PUBLISH, body: { note: "Asks for a day" } }]);
});

it("hands over what the server refuses", async () => {
  const { user, server, refused } = await renderDialog([version(2, "draft", "Ask for a day.")]);
  server.on(PUBLISH, { status: 409, body: { detail: "Someone else published it.", code: "publish_conflict" } });
  expect(await screen.findByText(/The first published version, with 1 step/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Publish" }));
  await waitFor(() => expect(refused).toHaveBeenCalledOnce());
});

it("tells a member what is demanded, and who can publish anyway", async () => {
  const gate = { ...OPEN_GATE, is_required: true, may_publish: false };
  await renderDialog([version(2, "draft", "Ask for a day.")], gate, "member");
  expect(await screen.findByText(/published only when its scenarios pass/)).toBeTruthy();
  expect(screen.getByText(/An admin can publish it anyway/)).toBeTruthy();
  expect(screen.getByRole("button", { name: "Publish" })).toHaveProperty("disabled", true);
});

it("publishes anyway with a reason, which is sent", async () => {
  const gate = { ...OPEN_GATE, is_required: true, may_publish: false, play: FELL };
  const { user, server, close } = await renderDialog([version(2, "draft", "Ask for a day.")], gate);
  expect(await screen.findByText("Books fails: the agent never said 'day'.")).toBeTruthy();
  expect(screen.getByText(/1 of 2 scenarios passed with this draft and covered 57% of the transitions/)).toBeTruthy();
  await user.click(await screen.findByRole("checkbox", { name: "Publish anyway" }));
  const publish = screen.getByRole("button", { name: "Publish anyway" });
  expect(publish).toHaveProperty("disabled", true);
  await user.type(screen.getByRole("textbox", { name: "Reason" }), "The line is down");
  server.on(PUBLISH, { body: { id: 2, workflow_id: 4, version_number: 2, status: "published", published_at: null } });
  await user.click(publish);
  await waitFor(() => expect(close).toHaveBeenCalledOnce());
  expect(server.sent).toEqual([{ route: PUBLISH, body: { gate_override: "The line is down" } }]);
});

it("stays open when the draft changed since its scenarios ran", async () => {
  const { user, server, close, refused } = await renderDialog([version(2, "draft", "Ask for a day.")]);
  server.on(PUBLISH, {
    status: 409,
    body: { detail: { message: "Play them first.", reasons: [] }, code: "publish_not_tested" },
  });
  await user.click(await screen.findByRole("button", { name: "Publish" }));
  expect(await screen.findByText("Play them first.")).toBeTruthy();
  expect(close).not.toHaveBeenCalled();
  expect(refused).not.toHaveBeenCalled();
});

it("tries it on a share of calls first", async () => {
  const { user, server, close } = await renderDialog([
    version(2, "draft", "Ask for a day."),
    version(1, "published", "Ask for a time."),
  ]);
  await user.click(await screen.findByRole("checkbox", { name: "Try on a share of calls first" }));
  const share = screen.getByRole("textbox", { name: "Share of calls" });
  await user.clear(share);
  await user.type(share, "80");
  const start = screen.getByRole("button", { name: "Try on a share of calls" });
  expect(start).toHaveProperty("disabled", true);
  await user.clear(share);
  await user.type(share, "20");
  const route = "POST /api/v1/workflow/4/canary";
  server.on(route, { body: { id: 1, version_number: 2, share: 20, state: "running" } });
  await user.click(screen.getByRole("button", { name: "Try on 20% of calls" }));
  await waitFor(() => expect(close).toHaveBeenCalledOnce());
  expect(server.sent).toEqual([{ route, body: { share: 20 } }]);
});
