import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import type { Play } from "./api";
import { PlayProgress } from "./play-progress";
import { RecordedAnswers } from "./answers";
import { ScenariosPanel } from "./scenarios-panel";

const AGENT = "/api/v1/workflow/4";
const BOOKS = { name: "books", title: "Books a table", caller: { turns: ["a table"] }, expect: { end: "bye" } };
const RECORDED = { count: 12, size_bytes: 4096, recorded_at: new Date().toISOString() };
const NOTHING = { count: 0, size_bytes: 0, recorded_at: null };

async function renderWith(part: React.ReactNode, canEdit = true) {
  const server = new FakeServer()
    .on(`GET ${AGENT}/scenarios`, { body: { version_number: 2, revision: 7, scenarios: [BOOKS] } })
    .on(`GET ${AGENT}/scenario-results`, { body: [] })
    .on(`GET ${AGENT}/scenario-plays`, { body: [] })
    .on(`GET ${AGENT}/recorded-answers`, { body: RECORDED });
  const editor = {
    agent: { id: 4, name: "Front desk" } as Agent,
    canEdit,
    document: { definition: { nodes: [], edges: [] }, configurations: {}, variables: {} },
    flush: () => Promise.resolve(7),
  } as unknown as Editor;
  return renderPart(<EditorProvider value={editor}>{part}</EditorProvider>, { server });
}

it("runs with recorded answers, records missing ones, or asks the agent's own model", async () => {
  const { user, server } = await renderWith(<ScenariosPanel />);
  server.on(`POST ${AGENT}/scenario-plays`, { status: 422, body: { detail: "No model.", code: "model_required" } });
  expect(await screen.findByText(/run offline and cost nothing/)).toBeTruthy();
  const answers = screen.getByRole("combobox", { name: "Answers" });
  for (const [choice, hint, order] of [
    ["The agent’s own model", /Every run costs money/, { answers: "live", cost_budget_cents: 100 }],
    ["Recorded answers", /Nothing is sent/, { answers: "recorded", record: false }],
    ["Record missing answers", /recorded, which costs money/, { answers: "recorded", record: true }],
  ] as const) {
    await user.selectOptions(answers, choice);
    expect(screen.getByText(hint)).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Run all" }));
    await waitFor(() => expect(server.sent.at(-1)?.body).toMatchObject(order));
  }
  expect(await screen.findByText("12 recorded answers.")).toBeTruthy();
});

it("stops runs at the budget that is entered", async () => {
  const { user, server } = await renderWith(<ScenariosPanel />);
  server.on(`POST ${AGENT}/scenario-plays`, { status: 422, body: { detail: "No model.", code: "model_required" } });
  await user.selectOptions(await screen.findByRole("combobox", { name: "Answers" }), "The agent’s own model");
  const budget = screen.getByRole("textbox", { name: "Budget per run" });
  for (const [typed, cents] of [
    ["2.5", 250],
    ["5000", 10_000],
    ["0", 100],
  ] as const) {
    await user.clear(budget);
    await user.type(budget, typed);
    await user.click(screen.getByRole("button", { name: "Run all" }));
    await waitFor(() => expect(server.sent.at(-1)?.body).toMatchObject({ cost_budget_cents: cents }));
  }
});

it("says what asking models cost", async () => {
  const play = {
    id: 9,
    state: "passed",
    total: 1,
    done: 1,
    passed: 1,
    error: null,
    cost_cents: 3.2,
    finished_at: null,
  };
  await renderWith(<PlayProgress play={{ ...play, created_at: new Date().toISOString() } as Play} />);
  expect(await screen.findByText(/^Models: \$0\.03/)).toBeTruthy();
});

it("deletes what is recorded after a question", async () => {
  const { user, server } = await renderWith(<RecordedAnswers />);
  server.on(`DELETE ${AGENT}/recorded-answers`, { body: NOTHING });
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  expect(await screen.findByText(/until they are recorded again/)).toBeTruthy();
  await user.click(screen.getAllByRole("button", { name: "Delete" }).at(-1) as HTMLElement);
  expect(await screen.findByText(/^No answers are recorded yet/)).toBeTruthy();
});

it("lets viewers see how much is recorded, and no more", async () => {
  await renderWith(<RecordedAnswers />, false);
  expect(await screen.findByText("12 recorded answers.")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});
