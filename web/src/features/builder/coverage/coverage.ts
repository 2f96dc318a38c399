/** What conversations took of a graph, for the canvas and for the list of what none took. Pure. */

import { type Definition, digitsOf, edgeTitles, nodeName } from "../../../graph/definition";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";

export type ScenarioCoverage = Schema<"ScenarioCoverageResponse">;
export type CallCoverage = Schema<"CallCoverageResponse">;
export type CoverageSource = "off" | "scenarios" | "calls";

export type CoveredTool = Schema<"CoveredToolResponse">;
export type EdgeCondition = Schema<"CoveredConditionResponse">["condition"];

/** What is drawn: how many conversations took each part, by id. Parts that the server does not know yet have no count. */
export interface CoverageMarks {
  nodes: ReadonlyMap<string, number>;
  edges: ReadonlyMap<string, number>;
  /** How many took a transition with words, and how many with its key: by `conditionKey`. */
  conditions: ReadonlyMap<string, number>;
  tools: ReadonlyMap<string, CoveredTool>;
  /** What was counted, for sentences. */
  noun: "scenario" | "call";
}

export interface MissedPart {
  kind: "node" | "edge" | EdgeCondition | "tool" | "failure";
  id: string;
  title: string;
  /** Where it is on the canvas. */
  nodeIds: readonly string[];
  edgeIds: readonly string[];
}

type Counts = Pick<ScenarioCoverage, "nodes" | "edges" | "conditions" | "tools">;

export function conditionKey(edgeId: string, condition: EdgeCondition): string {
  return `${condition}:${edgeId}`;
}

export function marksOf(counts: Counts, noun: CoverageMarks["noun"]): CoverageMarks {
  return {
    nodes: new Map(counts.nodes.map(({ id, count }) => [id, count])),
    edges: new Map(counts.edges.map(({ id, count }) => [id, count])),
    conditions: new Map(counts.conditions.map((one) => [conditionKey(one.edge_id, one.condition), one.count])),
    tools: new Map(counts.tools.map((tool) => [tool.id, tool])),
    noun,
  };
}

/** Steps first, then transitions, what takes them, and tools, each in the order of the graph. */
export function missedParts(marks: CoverageMarks, definition: Definition): MissedPart[] {
  const titles = edgeTitles(
    definition,
    definition.edges.map(({ id }) => id),
  );
  const edges = definition.edges.map((edge, index) => ({ edge, title: titles[index] ?? edge.id }));
  return [
    ...definition.nodes
      .filter((node) => marks.nodes.get(node.id) === 0)
      .map((node): MissedPart => ({
        kind: "node",
        id: node.id,
        title: nodeName(node),
        nodeIds: [node.id],
        edgeIds: [],
      })),
    ...edges
      .filter(({ edge }) => marks.edges.get(edge.id) === 0)
      .map(({ edge: { id }, title }): MissedPart => ({ kind: "edge", id, title, nodeIds: [], edgeIds: [id] })),
    ...edges.flatMap(({ edge, title }) =>
      unusedConditions(marks, edge.id).map((kind): MissedPart => ({
        kind,
        id: edge.id,
        title: kind === "key" ? `${title} by key ${digitsOf(edge)}` : `${title} by speech`,
        nodeIds: [],
        edgeIds: [edge.id],
      })),
    ),
    ...[...marks.tools.values()].flatMap((tool) => missedTool(tool, definition)),
  ];
}

/** What never took a transition that was taken: its words or its key. */
export function unusedConditions({ edges, conditions }: CoverageMarks, edgeId: string): EdgeCondition[] {
  if ((edges.get(edgeId) ?? 0) === 0) return [];
  return (["words", "key"] as const).filter((condition) => conditions.get(conditionKey(edgeId, condition)) === 0);
}

function missedTool({ id, name, count, failed_count }: CoveredTool, definition: Definition): MissedPart[] {
  const nodeIds = definition.nodes.filter((node) => toolIds(node.data).includes(id)).map((node) => node.id);
  if (nodeIds.length === 0 || failed_count > 0) return [];
  const kind = count === 0 ? "tool" : "failure";
  return [{ kind, id, title: count === 0 ? name : `${name} fails`, nodeIds, edgeIds: [] }];
}

export function toolIds(data: Record<string, unknown>): readonly unknown[] {
  const ids = data["tool_uuids"];
  return Array.isArray(ids) ? ids : [];
}

/** What is said about a step's tools: "1 never called", "1 never failed". */
export function toolRemarks({ tools }: CoverageMarks, data: Record<string, unknown>): string[] {
  const own = toolIds(data).flatMap((id) => tools.get(String(id)) ?? []);
  const uncalled = own.filter(({ count }) => count === 0).length;
  const unfailed = own.filter(({ count, failed_count }) => count > 0 && failed_count === 0).length;
  return [uncalled > 0 && `${uncalled} never called`, unfailed > 0 && `${unfailed} never failed`].filter(
    (remark) => remark !== false,
  );
}

/** "5 of 7 steps, 6 of 9 transitions, 1 of 2 tools, and 0 of 2 tool failures". */
export function shareOf({ nodes, edges, conditions, tools }: Counts): string {
  const share = (counts: readonly number[], one: string) =>
    `${counts.filter((count) => count > 0).length} of ${pluralize(counts.length, one)}`;
  const counted = (parts: readonly { count: number }[]) => parts.map(({ count }) => count);
  return joinWithAnd([
    share(counted(nodes), "step"),
    share(counted(edges), "transition"),
    // Without keys, there are as many as transitions.
    ...(conditions.length > edges.length ? [share(counted(conditions), "condition")] : []),
    ...(tools.length > 0
      ? [
          share(counted(tools), "tool"),
          share(
            tools.map(({ failed_count }) => failed_count),
            "tool failure",
          ),
        ]
      : []),
  ]);
}

function joinWithAnd(parts: readonly string[]): string {
  return parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`;
}

/** Why there is nothing to show yet; null where there is. */
export function whyNoScenarios({ total, played, passed }: ScenarioCoverage): string | null {
  if (total === 0) return "This agent has no scenarios yet. Write one under Scenarios in the side panel.";
  if (played === 0) return "No scenarios have been run with this version yet. Choose Run all under Scenarios.";
  if (passed === 0) return "No scenario passed in its last run, so nothing counts as covered.";
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

/** "Covered by 3 scenarios", "Not covered by any call". */
export function takenBy(count: number, noun: CoverageMarks["noun"]): string {
  return count === 0 ? `Not covered by any ${noun}` : `Covered by ${pluralize(count, noun)}`;
}
