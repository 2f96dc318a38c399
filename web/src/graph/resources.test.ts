import { expect, it } from "vitest";
import { parse } from "./definition";
import { DOCUMENTS, TOOLS, eligibleNodes, usersOf, withUsers } from "./resources";
import type { NodeSpec } from "./specs";

const spec = (name: string, ...properties: string[]) =>
  [name, { name, properties: properties.map((property) => ({ name: property })) } as unknown as NodeSpec] as const;
const specs = new Map([spec("agentNode", "tool_uuids", "document_refs"), spec("endCall")]);
const graph = parse({
  nodes: [
    { id: "a", type: "agentNode", data: { tool_uuids: ["t"], document_uuids: ["d"] } },
    { id: "b", type: "agentNode", data: { tool_uuids: ["other"] } },
    { id: "c", type: "endCall", data: {} },
  ],
  edges: [],
});
const dataOf = (definition: typeof graph) => Object.fromEntries(definition.nodes.map((node) => [node.id, node.data]));

it("says which steps use something, and lets others use it", () => {
  const nodes = eligibleNodes(graph, specs, TOOLS);
  expect(nodes.map((node) => node.id)).toEqual(["a", "b"]);
  expect([usersOf(nodes, TOOLS, "t"), usersOf(nodes, DOCUMENTS, "d")]).toEqual([["a"], ["a"]]);
  const moved = withUsers(graph, nodes, TOOLS, "t", ["b"]);
  expect(dataOf(moved)).toEqual({ a: { document_uuids: ["d"] }, b: { tool_uuids: ["other", "t"] }, c: {} });
  expect(moved.nodes[2]).toBe(graph.nodes[2]);
});

it("takes a document away under whichever name the step has it", () => {
  const nodes = eligibleNodes(graph, specs, DOCUMENTS);
  expect(dataOf(withUsers(graph, nodes, DOCUMENTS, "d", ["b"]))).toEqual({
    a: { tool_uuids: ["t"] },
    b: { tool_uuids: ["other"], document_refs: ["d"] },
    c: {},
  });
  expect(withUsers(graph, nodes, DOCUMENTS, "d", ["a"])).toBe(graph);
});
