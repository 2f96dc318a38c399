import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { ScenariosPanel } from "./scenarios-panel";

const AGENT = "/api/v1/workflow/4";
const PROPOSE = `POST ${AGENT}/scenario-proposals`;
const GRAPH = parse({
  nodes: [
    { id: "start", type: "startCall", data: { name: "Welcome" } },
    { id: "bye", type: "endCall", data: { name: "Goodbye" } },
  ],
  edges: [
    { id: "e1", source: "start", target: "bye", data: { label: "Books" } },
    { id: "e2", source: "start", target: "bye", data: { label: "Complains" } },
  ],
});
const OWN = { name: "books", title: "Books a table", caller: { turns: ["a table"] }, expect: { end: "bye" } };
const BOOKS = { name: "takes-books", title: "Takes “Books”", caller: { rules: [] }, expect: { edges: ["e1"] } };
const FAILS = { name: "tool-fails-books", title: "Takes “Books” while tools fail", expect: { edges: ["e1"] } };
const PRESSES = { name: "presses-books", title: "Takes “Books” by key", expect: { edges: ["e1"] } };
const FOUND = {
  version_number: 2,
  proposals: [
    { scenario: BOOKS, covers: ["e1"], keys: [] },
    { scenario: FAILS, covers: [], keys: [] },
    { scenario: PRESSES, covers: [], keys: ["e1"] },
  ],
  missed: ["e2"],
  is_complete: true,
};

async function renderPanel(scenarios: object[], canEdit = true) {
  const server = new FakeServer()
    .on(`GET ${AGENT}/scenarios`, { body: { version_number: 2, revision: 7, scenarios } })
    .on(`GET ${AGENT}/scenario-results`, { body: [] })
    .on(`GET ${AGENT}/scenario-plays`, { body: [] });
  const editor = {
    agent: { id: 4, name: "Front desk" } as Agent,
    canEdit,
    document: { definition: GRAPH, configurations: {}, variables: {} },
    flush: () => Promise.resolve(7),
  } as unknown as Editor;
  const panel = (
    <EditorProvider value={editor}>
      <ScenariosPanel />
    </EditorProvider>
  );
  return renderPart(panel, { server });
}

it("shows what each proposal takes, and saves those that are chosen", async () => {
  const { user, server } = await renderPanel([OWN]);
  const release = server.hold(PROPOSE, { body: FOUND });
  await user.click(await screen.findByRole("button", { name: "Propose" }));
  expect(await screen.findByText(/Trying each transition in conversations with the agent/)).toBeTruthy();
  release();
  const dialog = await screen.findByRole("dialog", { name: "Proposed scenarios" });
  expect(await within(dialog).findByText("Covers Welcome → Books.")).toBeTruthy();
  expect(within(dialog).getByText("The same call, with tools that fail.")).toBeTruthy();
  expect(within(dialog).getByText("Presses the keys of Welcome → Books.")).toBeTruthy();
  expect(within(dialog).getByText(/Write scenarios for them yourself: Welcome → Complains/)).toBeTruthy();
  expect(server.sent.map(({ route }) => route)).toEqual([PROPOSE]);

  await user.click(within(dialog).getByRole("checkbox", { name: "Takes “Books” while tools fail" }));
  await user.click(within(dialog).getByRole("checkbox", { name: "Takes “Books” by key" }));
  // Someone took the name while this was open.
  const taken = { ...OWN, name: "takes-books" };
  server.on(`GET ${AGENT}/scenarios`, { body: { version_number: 2, revision: 8, scenarios: [OWN, taken] } });
  server.on(`PUT ${AGENT}/scenarios`, { body: {} });
  await user.click(within(dialog).getByRole("button", { name: "Save 1 scenario" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.sent.at(-1)).toEqual({
    route: `PUT ${AGENT}/scenarios`,
    body: { scenarios: [OWN, taken, { ...BOOKS, name: "takes-books-2" }] },
  });
});

it("saves nothing while none is chosen, and keeps the choice when it is refused", async () => {
  const { user, server } = await renderPanel([]);
  server.on(PROPOSE, { body: { ...FOUND, is_complete: false } });
  await user.click(await screen.findByRole("button", { name: "Propose some" }));
  expect(await screen.findByText(/Time ran out before every transition was tried/)).toBeTruthy();
  const all = screen.getByRole("checkbox", { name: "All" });
  await user.click(all);
  expect(screen.getByRole("button", { name: "Save" })).toHaveProperty("disabled", true);
  await user.click(all);
  server.on(`PUT ${AGENT}/scenarios`, {
    status: 409,
    body: { code: "revision_conflict", detail: "The agent was changed." },
  });
  await user.click(screen.getByRole("button", { name: "Save 3 scenarios" }));
  expect(await screen.findByText("The agent was changed.")).toBeTruthy();
  expect(screen.getByRole("checkbox", { name: "Takes “Books”" })).toHaveProperty("checked", true);
});

it("says why there is nothing to propose", async () => {
  const { user, server } = await renderPanel([OWN]);
  server.on(PROPOSE, { body: { ...FOUND, proposals: [], missed: [] } });
  await user.click(await screen.findByRole("button", { name: "Propose" }));
  expect(await screen.findByText("Nothing to add")).toBeTruthy();
  await user.keyboard("{Escape}");
  server.on(PROPOSE, { body: { ...FOUND, proposals: [] } });
  await user.click(screen.getByRole("button", { name: "Propose" }));
  expect(await screen.findByText("No scenario was found")).toBeTruthy();
  expect(screen.getByText(/Welcome → Complains/)).toBeTruthy();
});

it("says what went wrong, and asks again", async () => {
  const { user, server } = await renderPanel([OWN]);
  server.on(PROPOSE, {
    status: 429,
    body: { code: "too_many_proposals", detail: "Scenarios are already being proposed." },
  });
  await user.click(await screen.findByRole("button", { name: "Propose" }));
  expect(await screen.findByText("Scenarios are already being proposed.")).toBeTruthy();
  server.on(PROPOSE, { body: FOUND });
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("Covers Welcome → Books.")).toBeTruthy();
});

it("is not there for those who may not edit", async () => {
  await renderPanel([OWN], false);
  expect(await screen.findByText("Books a table")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Propose" })).toBeNull();
});
