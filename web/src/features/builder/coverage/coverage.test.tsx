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
import { missedParts, marksOf, scenarioRemarks } from "./coverage";
import { CoverageMenu } from "./coverage-menu";
import { CoverageProvider, useCoverage } from "./use-coverage";

const AGENT = "/api/v1/workflow/4";
const GRAPH = parse({
  nodes: [
    { id: "start", type: "startCall", data: { name: "Welcome" } },
    { id: "book", type: "agentNode", data: { name: "Book a table" } },
    { id: "rules", type: "globalNode", data: { name: "Rules" } },
  ],
  edges: [
    { id: "e1", source: "start", target: "book", data: { label: "Wants a table" } },
    { id: "e2", source: "book", target: "start", data: {} },
  ],
});
const COUNTS = {
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
  expect(screen.queryByTitle(/^Taken by/)).toBeNull();
});

it("shows what passing scenarios took, what none did, and leads there", async () => {
  const server = new FakeServer().on(`GET ${AGENT}/scenario-coverage`, { body: PLAYED });
  const { user } = await open("Scenarios", server);
  expect(await screen.findByText("2 scenarios took 1 of 2 steps and 1 of 2 transitions.")).toBeTruthy();
  expect(
    screen.getByText(/1 of 4 scenarios not run with this version yet. 1 failed and does not count. Last run/),
  ).toBeTruthy();
  expect(screen.getByTitle("Taken by 2 scenarios").textContent).toBe("2×");
  expect(screen.getByTitle("Taken by no scenario").textContent).toBe("never");
  const missed = within(screen.getByRole("list", { name: "Never taken" })).getAllByRole("button");
  expect(missed.map((one) => one.textContent)).toEqual(["Book a table", "Book a table → Welcome"]);
  await user.click(missed[1] as HTMLElement);
  expect(reveal).toHaveBeenCalledWith({ nodeIds: [], edgeIds: ["e2"] }, "form");
});

it("says why there is nothing to show", async () => {
  const server = new FakeServer()
    .on(`GET ${AGENT}/scenario-coverage`, { body: { ...PLAYED, played: 0, passed: 0, last_played_at: null } })
    .on(`GET ${AGENT}/call-coverage`, { body: { ...HELD, calls: 0, has_more: false } });
  const { user } = await open("Scenarios", server);
  expect(await screen.findByText(/No scenarios have been run with this version yet/)).toBeTruthy();
  await user.click(screen.getByRole("radio", { name: "Calls of the last 30 days" }));
  expect(await screen.findByText(/no telephone calls in the last 30 days/)).toBeTruthy();
  expect(screen.queryByText("Never taken")).toBeNull();
  expect(screen.queryByTitle(/^Taken by/)).toBeNull();
});

it("counts calls, says that older ones were left out, and is turned off again", async () => {
  const { user } = await open(
    "Calls of the last 30 days",
    new FakeServer().on(`GET ${AGENT}/call-coverage`, { body: HELD }),
  );
  expect(await screen.findByText(/The newest 500 telephone calls took 1 of 2 steps/)).toBeTruthy();
  expect(screen.getByTitle("Taken by 2 calls")).toBeTruthy();
  await user.click(screen.getByRole("radio", { name: "Off" }));
  expect(screen.queryByTitle(/^Taken by/)).toBeNull();
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
  expect(await screen.findByText(/^2 scenarios took/)).toBeTruthy();
});

it("lists neither what the server does not know yet nor what callers never talk at", () => {
  expect(missedParts(marksOf({ nodes: [], edges: [] }, "call"), GRAPH)).toEqual([]);
  expect(scenarioRemarks({ ...PLAYED, total: 2, played: 2, passed: 2 })).toBe("");
});
