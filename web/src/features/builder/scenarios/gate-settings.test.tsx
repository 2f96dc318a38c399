import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Agent } from "../../../lib/api/types";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { GateSettings } from "./gate-settings";

const PATH = "/api/v1/workflow/4/publish-gate";
const GATE = {
  is_required: true,
  scenarios_pass: true,
  coverage_stays: true,
  nothing_regresses: true,
  min_edge_coverage: 40,
  answer_time_stays: true,
  with_sound: false,
  talk_overs_stay: true,
  draft_hash: null,
  may_publish: true,
  play: null,
};

async function renderSettings() {
  const server = new FakeServer().on(`GET ${PATH}`, { body: GATE });
  server.on(`PUT ${PATH}`, (body) => ({ body: { ...GATE, ...(body as object) } }));
  signIn(server, "owner");
  const editor = { agent: { id: 4, name: "Front desk" } as Agent, canEdit: true } as unknown as Editor;
  const part = (
    <EditorProvider value={editor}>
      <GateSettings />
    </EditorProvider>
  );
  return renderPart(part, { server });
}

it("saves a share of transitions, and refuses what is none", async () => {
  const { user, server } = await renderSettings();
  const field = await screen.findByLabelText<HTMLInputElement>("Required transition coverage");
  await waitFor(() => expect(field.disabled).toBe(false));
  await user.clear(field);
  await user.tab();
  expect(screen.getByText("Enter 0 to 100%.")).toBeTruthy();
  await user.type(field, "400");
  await user.tab();
  expect(field.value).toBe("400%");
  expect(server.sent).toHaveLength(0);
  await user.clear(field);
  await user.type(field, "60");
  await user.tab();
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(server.sent[0]?.body).toMatchObject({ min_edge_coverage: 60, is_required: true });
});

it("demands calls with sound", async () => {
  const { user, server } = await renderSettings();
  const field = await screen.findByRole<HTMLInputElement>("switch", { name: /^Run them as calls with sound/ });
  await waitFor(() => expect(field.disabled).toBe(false));
  await user.click(field);
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(server.sent[0]?.body).toMatchObject({ with_sound: true, is_required: true, min_edge_coverage: 40 });
});
