import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { GateVerdict } from "./gate-verdict";

const AGENT = "/api/v1/workflow/4";
const SLOWER = "Answers take 1640 ms on average; in the published version they take 1100 ms";
const VERDICT = {
  passed: false,
  reasons: [{ code: "answer_time_lost", message: SLOWER }],
  coverage: { edges: { percent: 80 } },
  sound: { answers: 9, mean_answer_ms: 1640, max_answer_ms: 2205, talk_overs: 0 },
  published_sound: { answers: 9, mean_answer_ms: 1100, max_answer_ms: 1390, talk_overs: 0 },
};
const PLAY = { id: 9, state: "failed", mode: "sound", total: 3, done: 3, passed: 3, verdict: VERDICT };

async function renderVerdict(verdict: object) {
  const gate = { is_required: true, with_sound: true, may_publish: false, play: { ...PLAY, verdict } };
  const server = new FakeServer()
    .on(`GET ${AGENT}/publish-gate`, { body: gate })
    .on(`GET ${AGENT}/scenarios`, { body: { version_number: 2, revision: 7, scenarios: [{ name: "books" }] } })
    .on(`GET ${AGENT}/scenario-plays`, { body: [] })
    .on(`POST ${AGENT}/scenario-plays`, { body: { ...PLAY, state: "queued" } });
  const document = { definition: parse({ nodes: [], edges: [] }), configurations: {}, variables: {} };
  const editor = { agent: { id: 4 } as Agent, document, flush: () => Promise.resolve(7) } as unknown as Editor;
  return renderPart(
    <EditorProvider value={editor}>
      <GateVerdict />
    </EditorProvider>,
    { server },
  );
}

it("shows what was heard beside the published version, and runs with sound again", async () => {
  const { user, server } = await renderVerdict(VERDICT);
  const table = await screen.findByRole("table", { name: "What was heard" });
  const rows = within(table)
    .getAllByRole("row")
    .map((row) => row.textContent);
  expect(rows).toEqual([
    "With soundDraftPublished",
    "Average answer time1.64 s1.10 s",
    "Longest answer time2.21 s1.39 s",
    "Talk-overs00",
  ]);
  expect(screen.getByText(`${SLOWER}.`)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Run scenarios again" }));
  await waitFor(() => expect(server.sent[0]?.body).toMatchObject({ scenarios: [], mode: "sound" }));
});

it("shows the draft alone when nothing is published", async () => {
  await renderVerdict({ ...VERDICT, published_sound: null });
  const table = await screen.findByRole("table", { name: "What was heard" });
  expect(within(table).getAllByRole("columnheader")).toHaveLength(2);
});
