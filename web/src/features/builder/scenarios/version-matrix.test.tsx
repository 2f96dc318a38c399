import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import type { LatestResult } from "./api";
import { matrixColumns, matrixRows } from "./matrix";
import { ScenariosPanel } from "./scenarios-panel";

const AGENT = "/api/v1/workflow/4";
const BOOKS = { name: "books", title: "Books a table", caller: { turns: ["a table"] }, expect: { end: "bye" } };
const ASKS = { name: "asks", title: "Asks for a day", caller: { turns: ["a day"] }, expect: { end: "bye" } };
const FAULT = { code: "end_differs", message: "the conversation goes on at bye", turn: 0, is_by_model: false };
const VERSIONS = [
  { id: 33, version_number: 3, status: "draft" },
  { id: 32, version_number: 2, status: "published" },
  { id: 31, version_number: 1, status: "archived" },
];

function result(version: number, name: string, passed: boolean): LatestResult {
  return {
    version_number: version,
    name,
    title: name,
    passed,
    seed: 0,
    play_id: 9 + version,
    played_at: new Date().toISOString(),
    fault: passed ? null : FAULT,
  };
}

const RESULTS = [result(3, "books", false), result(2, "books", true), result(1, "gone", true)];

async function openMatrix(canEdit = true) {
  const server = new FakeServer()
    .on(`GET ${AGENT}/scenarios`, { body: { version_number: 3, revision: 7, scenarios: [BOOKS, ASKS] } })
    .on(`GET ${AGENT}/scenario-results`, { body: RESULTS })
    .on(`GET ${AGENT}/versions`, { body: VERSIONS })
    .on(`GET ${AGENT}/scenario-plays`, { body: [] });
  const editor = {
    agent: { id: 4, name: "Front desk" } as Agent,
    canEdit,
    document: { definition: parse({ nodes: [], edges: [] }), configurations: {}, variables: {} },
    flush: () => Promise.resolve(7),
  } as unknown as Editor;
  const panel = (
    <EditorProvider value={editor}>
      <ScenariosPanel />
    </EditorProvider>
  );
  const rendered = await renderPart(panel, { server });
  await rendered.user.click(await screen.findByRole("button", { name: "By version" }));
  const table = await screen.findByRole("table");
  return { ...rendered, table };
}

it("shows what passed, what failed and what was not run, by version", async () => {
  const { table } = await openMatrix(false);
  const rows = within(table)
    .getAllByRole("row")
    .map((row) => [...row.children].map((cell) => cell.textContent));
  expect(rows).toEqual([
    ["Scenario", "Draft", "Version 2published", "Version 1"],
    ["Books a table", "Failed", "Passed", "Not run"],
    ["Asks for a day", "Not run", "Not run", "Not run"],
    ["goneno longer there", "Not run", "Not run", "Passed"],
  ]);
  expect(within(table).queryByRole("button", { name: /^Run all/ })).toBeNull();
});

it("leads to the turn that failed", async () => {
  const { user, server, table } = await openMatrix();
  const transcript = [
    { caller: null, agent: "Hello.", turn: null },
    { caller: "a table", agent: "Which day?", turn: 0 },
  ];
  server.on(`GET ${AGENT}/scenario-plays/12/results`, { body: [{ ...RESULTS[0], faults: [FAULT], transcript }] });
  await user.click(within(table).getByRole("button", { name: "Failed: show conversation of Books a table, Draft" }));
  const turns = within(await screen.findByRole("region", { name: "Conversation" })).getAllByRole("listitem");
  expect(turns.map((turn) => turn.getAttribute("aria-current"))).toEqual([null, "true"]);
});

it("runs a version that was not run, and says what keeps it from that", async () => {
  const { user, server, table } = await openMatrix();
  server.on(`POST ${AGENT}/scenario-plays`, {
    status: 409,
    body: { code: "no_scenarios", detail: "The agent has no scenarios." },
  });
  await user.click(within(table).getByRole("button", { name: "Run all with version 1" }));
  const dialog = screen.getByRole("dialog");
  expect(await within(dialog).findByText("The agent has no scenarios.")).toBeTruthy();
  await waitFor(() =>
    expect(server.sent.at(-1)?.body).toMatchObject({ scenarios: [], mode: "text", answers: "built-in", version: 1 }),
  );
});

it("puts the newest ten versions beside each other", () => {
  const many = Array.from({ length: 12 }, (_, index) => ({ version_number: index + 1, status: "archived" as const }));
  const columns = matrixColumns(many);
  expect(columns.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(matrixRows([], [result(1, "old", true), result(12, "new", true)], columns).map(({ name }) => name)).toEqual([
    "new",
  ]);
});
