import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { ConflictBar } from "./save-state";

const COPY = { id: 9, name: "Bakery (copy)", revision: 1 };
const TRIGGER = { id: "t", type: "trigger", position: { x: 0, y: 0 }, data: { name: "Trigger", trigger_path: "own" } };

async function renderConflict(server: FakeServer) {
  const reload = vi.fn(() => Promise.resolve());
  const editor = {
    agent: { id: 3, name: "Bakery" },
    document: { definition: parse({ nodes: [TRIGGER], edges: [] }), configurations: {}, variables: { day: "Friday" } },
    specs: new Map(),
    saving: { name: "conflict", revision: 5 },
    reload,
    keepMine: vi.fn(() => Promise.resolve()),
  };
  server.on("POST /api/v1/workflow/3/duplicate", { body: COPY });
  const { user } = await renderPart(
    <EditorProvider value={editor as unknown as Editor}>
      <ConflictBar />
    </EditorProvider>,
    { server },
  );
  expect(screen.getByRole("alert").textContent).toContain("changed elsewhere, by someone else or in another tab");
  await user.click(screen.getByRole("button", { name: "Save mine as a copy" }));
  return reload;
}

it("keeps both versions of an agent: what is here as a copy, with triggers of its own, and theirs", async () => {
  const server = new FakeServer().on("PUT /api/v1/workflow/9", { body: COPY });
  const reload = await renderConflict(server);
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
  const [, saved] = server.sent;
  expect(saved).toMatchObject({
    route: "PUT /api/v1/workflow/9",
    body: { template_context_variables: { day: "Friday" } },
  });
  expect(JSON.stringify(saved)).not.toContain("own");
});

it("leaves no copy of theirs behind, and what is here as it is, when the copy is refused", async () => {
  const server = new FakeServer()
    .on("PUT /api/v1/workflow/9", { status: 422, body: { detail: "Too large.", code: "definition_too_large" } })
    .on("DELETE /api/v1/workflow/9", { body: { id: 9 } });
  const reload = await renderConflict(server);
  await waitFor(() => expect(server.sent.at(-1)?.route).toBe("DELETE /api/v1/workflow/9"));
  expect(reload).not.toHaveBeenCalled();
});
