import { screen, waitFor, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer, network } from "../../../testing/server";
import { type Editor, EditorProvider } from "../state/editor";
import { ScenariosPanel } from "./scenarios-panel";

const AGENT = "/api/v1/workflow/4";
const CHECK = `POST ${AGENT}/scenario-check`;
const BOOKS = { name: "books", title: "Books a table", caller: { turns: ["a table"] }, expect: { end: "bye" } };
const GRAPH = parse({ nodes: [{ id: "bye", type: "endNode", data: { name: "Goodbye" } }], edges: [] });
const FAULT = { code: "end_differs", message: "the conversation goes on at bye", turn: 0 };
const RESULT = {
  version_number: 2,
  name: "books",
  title: "Books a table",
  passed: false,
  seed: 0,
  play_id: 9,
  played_at: new Date().toISOString(),
  fault: FAULT,
};
const PLAY = {
  id: 9,
  state: "running",
  total: 1,
  done: 0,
  passed: 0,
  error: null,
  created_at: new Date().toISOString(),
  finished_at: null,
};

const OFFLINE = { answers: "built-in", record: false, cost_budget_cents: 100 };
const MADE = { name: "call-20", title: "Call 20", caller: { turns: ["a table"] }, expect: { edges: ["book"] } };

async function renderPanel(
  scenarios: object[],
  {
    results = [],
    canEdit = true,
    fromRun,
    onFromRunDone,
  }: { results?: object[]; canEdit?: boolean; fromRun?: number; onFromRunDone?: () => void } = {},
) {
  const server = new FakeServer()
    .on(`GET ${AGENT}/scenarios`, { body: { version_number: 2, revision: 7, scenarios } })
    .on(`GET ${AGENT}/scenario-results`, { body: results })
    .on(`GET ${AGENT}/scenario-plays`, { body: [] })
    .on(`GET ${AGENT}/runs/20/scenario`, { body: MADE });
  const editor = {
    agent: { id: 4, name: "Front desk" } as Agent,
    canEdit,
    document: { definition: GRAPH, configurations: {}, variables: {} },
    flush: () => Promise.resolve(7),
  } as unknown as Editor;
  const panel = (
    <EditorProvider value={editor}>
      <ScenariosPanel fromRun={fromRun} {...(onFromRunDone === undefined ? {} : { onFromRunDone })} />
    </EditorProvider>
  );
  return renderPart(panel, { server });
}

it("asks before a typed title is lost", async () => {
  const { user } = await renderPanel([]);
  await user.click(await screen.findByRole("button", { name: "Write one" }));
  await user.type(await screen.findByRole("textbox", { name: "Title" }), "Books");
  await user.keyboard("{Escape}");
  expect(await screen.findByRole("dialog", { name: "Discard your changes?" })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Keep editing" }));
  expect(screen.getByRole("textbox", { name: "Title" })).toHaveProperty("value", "Books");
  await user.clear(screen.getByRole("textbox", { name: "Title" }));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

it("writes the first scenario, with what the server refuses at its field", async () => {
  const { user, server } = await renderPanel([]);
  await user.click(await screen.findByRole("button", { name: "Write one" }));
  const issue = { path: "scenarios[0].caller.turns[0]", code: "string_too_short", message: "say something" };
  server.on(CHECK, { body: { is_valid: false, issues: [issue], scenarios: [], yaml: null } });
  await user.type(await screen.findByRole("textbox", { name: "Title" }), "Books a table");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Say something.")).toBeTruthy();
  expect(screen.getByRole("textbox", { name: "Turn 1: words" }).getAttribute("aria-invalid")).toBe("true");

  const written = { ...BOOKS, name: "books-a-table" };
  server.on(CHECK, { body: { is_valid: true, issues: [], scenarios: [written], yaml: "" } });
  server.on(`PUT ${AGENT}/scenarios/books-a-table`, { body: {} });
  await user.type(screen.getByRole("textbox", { name: "Turn 1: words" }), "a table");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  const sent = server.sent.at(-2)?.body as { yaml: string };
  expect(JSON.parse(sent.yaml)).toEqual({
    scenarios: [{ name: "books-a-table", title: "Books a table", caller: { turns: ["a table"] }, expect: {} }],
  });
  expect(server.sent.at(-1)).toEqual({ route: `PUT ${AGENT}/scenarios/books-a-table`, body: written });
});

it("refuses to overwrite what someone else wrote meanwhile", async () => {
  const { user, server } = await renderPanel([BOOKS]);
  await user.click(await screen.findByRole("button", { name: "Edit Books a table" }));
  server.on(CHECK, { body: { is_valid: true, issues: [], scenarios: [BOOKS], yaml: "" } });
  server.on(`GET ${AGENT}/scenarios`, {
    body: { version_number: 2, revision: 8, scenarios: [{ ...BOOKS, title: "Mine" }] },
  });
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText(/Someone else changed this scenario/)).toBeTruthy();
});

it("turns the form into YAML and back, with the server's complaints about it", async () => {
  const { user, server } = await renderPanel([BOOKS]);
  await user.click(await screen.findByRole("button", { name: "Edit Books a table" }));
  server.on(CHECK, { body: { is_valid: true, issues: [], scenarios: [BOOKS], yaml: "scenarios:\n- name: books\n" } });
  await user.click(screen.getByRole("radio", { name: "YAML" }));
  expect(await screen.findByRole("textbox", { name: "YAML" })).toHaveProperty("value", "scenarios:\n- name: books\n");
  const issue = { path: "scenarios[0].surprise", code: "extra_forbidden", message: "extra inputs are not permitted" };
  server.on(CHECK, { body: { is_valid: false, issues: [issue], scenarios: [], yaml: null } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("surprise: extra inputs are not permitted.")).toBeTruthy();
});

it("runs all, can be canceled, and says in words what did not hold", async () => {
  const { user, server } = await renderPanel([BOOKS], { results: [RESULT] });
  expect(await screen.findByText("Turn 1: The conversation goes on at “Goodbye”.")).toBeTruthy();
  server.on(`POST ${AGENT}/scenario-plays`, { body: PLAY });
  server.on(`GET ${AGENT}/scenario-plays`, { body: [PLAY] });
  await user.click(screen.getByRole("button", { name: "Run all" }));
  expect(await screen.findByText("Running: 0 of 1")).toBeTruthy();
  expect(server.sent[0]?.body).toEqual({ scenarios: [], seeds: [0], mode: "text", cpu_budget_s: 60, ...OFFLINE });
  const canceled = { ...PLAY, state: "canceled", finished_at: PLAY.created_at };
  server.on(`POST ${AGENT}/scenario-plays/9/cancel`, { body: canceled });
  server.on(`GET ${AGENT}/scenario-plays`, { body: [canceled] });
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(await screen.findByText("Canceled.")).toBeTruthy();
});

it("follows a run that was started while the end of the one before was still being read", async () => {
  const { user, server } = await renderPanel([BOOKS], { results: [RESULT] });
  const over = { ...PLAY, state: "passed", done: 1, passed: 1, finished_at: PLAY.created_at };
  server.on(`POST ${AGENT}/scenario-plays`, { body: PLAY });
  server.on(`GET ${AGENT}/scenario-plays`, () => {
    // What the end of the run makes the page read again is answered late.
    readAgain = server.hold(`GET ${AGENT}/scenario-plays`, { body: [over] });
    return { body: [over] };
  });
  let readAgain = () => {};
  await user.click(await screen.findByRole("button", { name: "Run all" }));
  expect(await screen.findByText("Last run: 1 of 1 passed", {}, { timeout: 3_000 })).toBeTruthy();
  server.on(`POST ${AGENT}/scenario-plays`, { body: { ...PLAY, id: 10 } });
  await user.click(screen.getByRole("button", { name: "Run all" }));
  expect(await screen.findByText("Running: 0 of 1")).toBeTruthy();
  const late = [...network.pending];
  const shown: (string | null)[] = [];
  const watch = new MutationObserver(() => shown.push(screen.getByRole("status").textContent));
  watch.observe(document.body, { subtree: true, childList: true, characterData: true });
  readAgain();
  await Promise.all(late);
  server.on(`GET ${AGENT}/scenario-plays`, { body: [{ ...over, id: 10, passed: 0, state: "failed" }] });
  expect(await screen.findByText("Last run: 0 of 1 passed", {}, { timeout: 3_000 })).toBeTruthy();
  watch.disconnect();
  expect(shown).not.toContain("Last run: 1 of 1 passed");
});

it("opens the conversation at the turn that failed", async () => {
  const { user, server } = await renderPanel([BOOKS], { results: [RESULT], canEdit: false });
  const transcript = [
    { caller: null, agent: "Hello.", turn: null },
    { caller: "a table", agent: "Which day?", turn: 0 },
  ];
  server.on(`GET ${AGENT}/scenario-plays/9/results`, { body: [{ ...RESULT, faults: [FAULT], transcript }] });
  expect(screen.queryByRole("button", { name: "Run all" })).toBeNull();
  await user.click(await screen.findByRole("button", { name: "Show conversation of Books a table" }));
  const turns = within(await screen.findByRole("region", { name: "Conversation" })).getAllByRole("listitem");
  expect(turns.map((turn) => turn.getAttribute("aria-current"))).toEqual([null, "true"]);
});

it("runs with sound, and opens a failed call at its turn with its strip and recording", async () => {
  const { user, server } = await renderPanel([BOOKS], { results: [RESULT] });
  server.on(`POST ${AGENT}/scenario-plays`, { body: PLAY });
  await user.click(await screen.findByRole("switch", { name: "With sound" }));
  await user.click(screen.getByRole("button", { name: "Run all" }));
  await waitFor(() =>
    expect(server.sent[0]?.body).toEqual({ scenarios: [], seeds: [0], mode: "sound", cpu_budget_s: 300, ...OFFLINE }),
  );
  const strip = {
    seconds: 20,
    caller: [0, 9],
    agent: [9, 0],
    steps: [{ node_id: "bye", name: "Goodbye", kind: "endNode", start_s: 0, end_s: 20 }],
    marks: [],
  };
  const transcript = [
    { caller: null, agent: "Hello.", turn: null },
    { caller: "a table", agent: "Which day?", turn: 0 },
  ];
  const heard = { id: 3, has_recording: true, strip, sound: { began_at_s: [0, 7.5] } };
  server.on(`GET ${AGENT}/scenario-plays/9/results`, {
    body: [{ ...RESULT, ...heard, faults: [FAULT], transcript }],
  });
  server.on(`GET ${AGENT}/scenario-plays/9/results/3/recording`, { body: {} });
  // jsdom has no addresses of content
  Object.assign(URL, { createObjectURL: () => "blob:recording", revokeObjectURL: () => undefined });
  await user.click(screen.getByRole("button", { name: "Show conversation of Books a table" }));
  const recording = within(await screen.findByRole("region", { name: "Recording" }));
  expect(recording.getByRole("list", { name: "Steps of the call" })).toBeTruthy();
  const audio = recording.getByLabelText<HTMLAudioElement>("Recording: caller left, agent right");
  expect(audio.getAttribute("src")).toBe("blob:recording");
  expect(audio.currentTime).toBe(6.5);
  await user.click(screen.getByRole("button", { name: "Go to 0:07 in the recording" }));
  expect(audio.currentTime).toBe(7.5);
});

it("opens what is made of a run, under a name that is free, and keeps what the form does not show", async () => {
  const onFromRunDone = vi.fn();
  const { user, server } = await renderPanel([{ ...BOOKS, name: "call-20" }], { fromRun: 20, onFromRunDone });
  expect(await screen.findByRole("textbox", { name: "Title" })).toHaveProperty("value", "Call 20");
  expect(screen.getByRole("textbox", { name: "Turn 1: words" })).toHaveProperty("value", "a table");
  expect(screen.getByText(/Before you save it, replace names and numbers/)).toBeTruthy();
  const written = { ...MADE, name: "call-20-2" };
  server.on(CHECK, { body: { is_valid: true, issues: [], scenarios: [written], yaml: "" } });
  server.on(`PUT ${AGENT}/scenarios/call-20-2`, { body: {} });
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(onFromRunDone).toHaveBeenCalledOnce());
  expect(JSON.parse((server.sent.at(-2)?.body as { yaml: string }).yaml)).toEqual({ scenarios: [written] });
  expect(server.sent.at(-1)).toEqual({ route: `PUT ${AGENT}/scenarios/call-20-2`, body: written });
});

it("says why a run gives no scenario, and asks again", async () => {
  const { user, server } = await renderPanel([BOOKS], { fromRun: 21 });
  expect(await screen.findByRole("dialog", { name: "New scenario" })).toBeTruthy();
  server.on(`GET ${AGENT}/runs/21/scenario`, { body: { ...MADE, title: "Call 21" } });
  await user.click(await screen.findByRole("button", { name: "Try again" }));
  expect(await screen.findByRole("textbox", { name: "Title" })).toHaveProperty("value", "Call 21");
});

it("opens nothing of a run for those who may not edit", async () => {
  await renderPanel([BOOKS], { fromRun: 20, canEdit: false });
  expect(await screen.findByText("Books a table")).toBeTruthy();
  expect(screen.queryByRole("dialog")).toBeNull();
});
