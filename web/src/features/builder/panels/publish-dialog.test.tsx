import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
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

async function renderDialog(versions: object[]) {
  const server = new FakeServer().on("GET /api/v1/workflow/4/versions", { body: versions });
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
