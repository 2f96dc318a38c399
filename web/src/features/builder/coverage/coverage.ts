/** Which steps and transitions conversations took, for the canvas and for the list of what none took. Pure. */

import { type Definition, edgeTitles, nodeName } from "../../../graph/definition";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";

export type ScenarioCoverage = Schema<"ScenarioCoverageResponse">;
export type CallCoverage = Schema<"CallCoverageResponse">;
export type CoverageSource = "off" | "scenarios" | "calls";

/** What is drawn: how many conversations took each part, by id. Parts that the server does not know yet have no count. */
export interface CoverageMarks {
  nodes: ReadonlyMap<string, number>;
  edges: ReadonlyMap<string, number>;
  /** What was counted, for sentences. */
  noun: "scenario" | "call";
}

export interface MissedPart {
  kind: "node" | "edge";
  id: string;
  title: string;
}

type Counts = Pick<ScenarioCoverage, "nodes" | "edges">;

export function marksOf(counts: Counts, noun: CoverageMarks["noun"]): CoverageMarks {
  return {
    nodes: new Map(counts.nodes.map(({ id, count }) => [id, count])),
    edges: new Map(counts.edges.map(({ id, count }) => [id, count])),
    noun,
  };
}

/** Steps first, then transitions, each in the order of the graph. */
export function missedParts({ nodes, edges }: CoverageMarks, definition: Definition): MissedPart[] {
  const missedEdges = definition.edges.filter((edge) => edges.get(edge.id) === 0).map(({ id }) => id);
  const titles = edgeTitles(definition, missedEdges);
  return [
    ...definition.nodes
      .filter((node) => nodes.get(node.id) === 0)
      .map((node): MissedPart => ({ kind: "node", id: node.id, title: nodeName(node) })),
    ...missedEdges.map((id, index): MissedPart => ({ kind: "edge", id, title: titles[index] ?? id })),
  ];
}

/** "5 of 7 steps and 6 of 9 transitions". */
export function shareOf({ nodes, edges }: Counts): string {
  const share = (parts: Counts["nodes"], one: string) =>
    `${parts.filter(({ count }) => count > 0).length} of ${pluralize(parts.length, one)}`;
  return `${share(nodes, "step")} and ${share(edges, "transition")}`;
}

/** Why there is nothing to show yet; null where there is. */
export function whyNoScenarios({ total, played, passed }: ScenarioCoverage): string | null {
  if (total === 0) return "This agent has no scenarios yet. Write one under Scenarios in the side panel.";
  if (played === 0) return "No scenarios have been run with this version yet. Choose Run all under Scenarios.";
  if (passed === 0) return "No scenario passed in its last run, so nothing counts as taken.";
  return null;
}

export function whyNoCalls({ calls, days }: CallCoverage): string | null {
  if (calls > 0) return null;
  return `There were no telephone calls in the last ${days} days. Chats and browser calls on this page do not count.`;
}

/** What the numbers leave out. */
export function scenarioRemarks({ total, played, passed }: ScenarioCoverage): string {
  const parts = [
    played < total && `${total - played} of ${pluralize(total, "scenario")} not run with this version yet.`,
    passed < played && `${played - passed} failed and ${played - passed === 1 ? "does" : "do"} not count.`,
  ];
  return parts.filter((part) => part !== false).join(" ");
}

/** "Taken by 3 scenarios", "Taken by no call". */
export function takenBy(count: number, noun: CoverageMarks["noun"]): string {
  return count === 0 ? `Taken by no ${noun}` : `Taken by ${pluralize(count, noun)}`;
}
