import { ReactFlowProvider } from "@xyflow/react";
import { screen, within } from "@testing-library/react";
import type { ComponentProps } from "react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { NodeCard } from "../canvas/node-card";
import { type Editor, EditorProvider } from "../state/editor";
import { MarksProvider } from "../state/marks";
import { NO_ISSUES } from "../../../graph/validation-issues";
import { missedParts, marksOf, type ScenarioCoverage, scenarioRemarks } from "./coverage";
import { CoverageMenu } from "./coverage-menu";
import { UnusedKey, UnusedWords } from "./taken-count";
import { CoverageProvider, useCoverage } from "./use-coverage";

const AGENT = "/api/v1/workflow/4";
const GRAPH = parse({
  nodes: [
    { id: "start", type: "startCall", data: { name: "Welcome" } },
    { id: "book", type: "agentNode", data: { name: "Book a table", tool_uuids: ["t1", "t2", "t3"] } },
    { id: "rules", type: "globalNode", data: { name: "Rules" } },
  ],
  edges: [
    { id: "e1", source: "start", target: "book", data: { label: "Wants a table", digits: "1" } },
    { id: "e2", source: "book", target: "start", data: {} },
  ],
});
const COUNTS: Omit<ScenarioCoverage, "total" | "played" | "passed" | "last_played_at"> = {
  version_number: 2,
  version_status: "draft",
  nodes: [
    { id: "start", count: 2 },
    { id: "book", count: 0 },
  ],
  edges: [
    { id: "e1", count: 2 },
    { id: "e2", count: 0 },
  ],
  conditions: [
    { edge_id: "e1", condition: "words", count: 2 },
    { edge_id: "e1", condition: "key", count: 0 },
    { edge_id: "e2", condition: "words", count: 0 },
  ],
  tools: [
    { id: "t1", name: "Look up", count: 2, failed_count: 0 },
    { id: "t2", name: "Reserve", count: 0, failed_count: 0 },
    { id: "t3", name: "Calculate", count: 1, failed_count: 1 },
    // Of another version: the canvas has no step with it.
    { id: "t4", name: "Gone", count: 0, failed_count: 0 },
  ],
};
const PLAYED = { ...COUNTS, total: 4, played: 3, passed: 2, last_played_at: new Date().toISOString() };
const HELD = { ...COUNTS, days: 30, calls: 500, has_more: true };

const reveal = vi.fn();
const editor = {
  agent: { id: 4, name: "Front desk" } as Agent,
  document: { definition: GRAPH, configurations: {}, variables: {} },
  reveal,
} as unknown as Editor;

function cardOf(node: (typeof GRAPH.nodes)[number] | undefined) {
  return { id: node?.id, data: { node, spec: undefined, canEdit: false } } as unknown as ComponentProps<
    typeof NodeCard
  >;
}

/** The menu, and one step as the canvas draws it. */
function Part() {
  const coverage = useCoverage(4);
  const [start, book] = GRAPH.nodes;
  return (
    <EditorProvider value={editor}>
      <MarksProvider
        value={{ validationIssues: NO_ISSUES, liveId: null, visited: new Set(), coverage: coverage.marks }}
      >
        <CoverageProvider value={coverage}>
          <CoverageMenu />
          <ReactFlowProvider>
            {[start, book].map((node) => (
              <NodeCard key={node?.id} {...cardOf(node)} />
            ))}
          </ReactFlowProvider>
        </CoverageProvider>
      </MarksProvider>
    </EditorProvider>
  );
}

async function open(source: string | null, server = new FakeServer()) {
  const rendered = await renderPart(<Part />, { server });
  await rendered.user.click(screen.getByRole("button", { name: "Coverage" }));
  if (source !== null) await rendered.user.click(await screen.findByRole("radio", { name: source }));
  return rendered;
}

it("marks nothing and asks for nothing until it is turned on", async () => {
  await open(null);
  expect(await screen.findByText(/Shows which steps and transitions/)).toBeTruthy();
  expect(screen.queryByTitle(/^Covered by/)).toBeNull();
});

it("shows what passing scenarios took, what none did, and leads there", async () => {
  const server = new FakeServer().on(`GET ${AGENT}/scenario-coverage`, { body: PLAYED });
  const { user } = await open("Scenarios", server);
  const share = "1 of 2 steps, 1 of 2 transitions, 1 of 3 conditions, 2 of 4 tools, and 1 of 4 tool failures";
  expect(await screen.findByText(`2 scenarios covered ${share}.`)).toBeTruthy();
  expect(
    screen.getByText(/1 of 4 scenarios not run with this version yet. 1 failed and does not count. Last run/),
  ).toBeTruthy();
  expect(screen.getByTitle("Covered by 2 scenarios").textContent).toBe("2×");
  expect(screen.getByTitle("Not covered by any scenario").textContent).toBe("never");
  const missed = within(screen.getByRole("list", { name: "Not covered" })).getAllByRole("button");
  expect(missed.map((one) => [within(one).getByRole("img").getAttribute("aria-label"), one.textContent])).toEqual([
    ["Step", "Book a table"],
    ["Transition", "Book a table → Welcome"],
    ["Key", "Welcome → Wants a table by key 1"],
    ["Tool failure", "Look up fails"],
    ["Tool", "Reserve"],
  ]);
  expect(screen.getByText("1 never called")).toBeTruthy();
  expect(screen.getByText("1 never failed")).toBeTruthy();
  await user.click(missed[1] as HTMLElement);
  expect(reveal).toHaveBeenCalledWith({ nodeIds: [], edgeIds: ["e2"] }, "form");
  await user.click(screen.getByRole("button", { name: "Coverage" }));
  await user.click(await screen.findByRole("button", { name: /Reserve/ }));
  expect(reveal).toHaveBeenLastCalledWith({ nodeIds: ["book"], edgeIds: [] }, "form");
});

it("says at a transition which of its conditions was never used", async () => {
  const byWords = marksOf(COUNTS, "call");
  const byKey = marksOf({ ...COUNTS, conditions: [{ edge_id: "e1", condition: "words", count: 0 }] }, "call");
  await renderPart(
    <ul>
      {[byWords, byKey].flatMap((coverage, index) =>
        ["e1", "e2"].map((edgeId) => (
          <li key={`${index}:${edgeId}`}>
            <UnusedWords coverage={coverage} edgeId={edgeId} />
            <kbd>
              1<UnusedKey coverage={coverage} edgeId={edgeId} />
            </kbd>
          </li>
        )),
      )}
    </ul>,
  );
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "1 never",
    "1",
    "never by speech1",
    "1",
  ]);
});

it("says why there is nothing to show", async () => {
  const server = new FakeServer()
    .on(`GET ${AGENT}/scenario-coverage`, { body: { ...PLAYED, played: 0, passed: 0, last_played_at: null } })
    .on(`GET ${AGENT}/call-coverage`, { body: { ...HELD, calls: 0, has_more: false } });
  const { user } = await open("Scenarios", server);
  expect(await screen.findByText(/No scenarios have been run with this version yet/)).toBeTruthy();
  await user.click(screen.getByRole("radio", { name: "Calls of the last 30 days" }));
  expect(await screen.findByText(/no telephone calls in the last 30 days/)).toBeTruthy();
  expect(screen.queryByText("Not covered")).toBeNull();
  expect(screen.queryByTitle(/^Covered by/)).toBeNull();
});

it("counts calls, says that older ones were left out, and is turned off again", async () => {
  const { user } = await open(
    "Calls of the last 30 days",
    new FakeServer().on(`GET ${AGENT}/call-coverage`, { body: HELD }),
  );
  expect(await screen.findByText(/The newest 500 telephone calls covered 1 of 2 steps/)).toBeTruthy();
  expect(screen.getByTitle("Covered by 2 calls")).toBeTruthy();
  await user.click(screen.getByRole("radio", { name: "Off" }));
  expect(screen.queryByTitle(/^Covered by/)).toBeNull();
});

it("gives the focus back to its button when Escape closes it", async () => {
  const { user } = await open(null);
  await user.click(await screen.findByRole("radio", { name: "Scenarios" }));
  await user.keyboard("{Escape}");
  await expect.poll(() => document.activeElement).toBe(screen.getByRole("button", { name: "Coverage" }));
  expect(screen.queryByRole("radio")).toBeNull();
});

it("says that it could not be loaded, and asks again", async () => {
  const { user, server } = await open("Scenarios");
  const again = await screen.findByRole("button", { name: "Try again" });
  server.on(`GET ${AGENT}/scenario-coverage`, { body: PLAYED });
  await user.click(again);
  expect(await screen.findByText(/^2 scenarios covered/)).toBeTruthy();
});

it("lists neither what the server does not know yet nor what callers never talk at", () => {
  expect(missedParts(marksOf({ nodes: [], edges: [], conditions: [], tools: [] }, "call"), GRAPH)).toEqual([]);
  expect(scenarioRemarks({ ...PLAYED, total: 2, played: 2, passed: 2 })).toBe("");
});
