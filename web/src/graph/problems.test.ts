import { expect, it } from "vitest";
import { parse } from "./definition";
import { besides, findings, placeOf, problemAt } from "./problems";

const issue = (kind: "node" | "edge" | "workflow", id: string | null, field: string | null) => ({
  kind,
  id,
  field,
  code: "x",
  message: `${kind} ${field ?? "null"}`,
});
const graph = parse({
  nodes: [
    { id: "a", data: { name: "Hello" } },
    { id: "b", data: { name: "Bye" } },
  ],
  edges: [{ id: "w", source: "a", target: "b", data: { label: "done" } }],
});

it("sorts findings to their step, their way and their field", () => {
  const found = findings(
    [issue("node", "a", "data.prompt"), issue("edge", "w", "data.label"), issue("workflow", null, "nodes")],
    [issue("node", "a", null)],
  );
  expect([found.errors, found.warnings]).toEqual([3, 1]);
  const atStep = found.byStep.get("a") ?? [];
  expect(problemAt(atStep, "prompt")).toBe("node data.prompt");
  expect(besides(atStep, ["prompt"]).map((finding) => finding.isError)).toEqual([false]);
  expect(found.all.map((finding) => placeOf(finding, graph))).toEqual(["Hello", "Hello → Bye (done)", "", "Hello"]);
});

it("finds the row of a collection, and covers it by the collection", () => {
  const found = findings([issue("node", "a", "data.headers.0.key")], []).all;
  expect(problemAt(found, "headers.0.key")).toBe("node data.headers.0.key");
  expect(besides(found, ["headers"])).toEqual([]);
});
