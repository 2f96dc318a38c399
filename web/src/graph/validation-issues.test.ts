import { expect, it } from "vitest";
import { parse } from "./definition";
import { issuesBeside, groupIssues, locationOf, issueAt } from "./validation-issues";

const issue = (kind: "node" | "edge" | "workflow", id: string | null, field: string | null) => ({
  kind,
  id,
  field,
  code: "x",
  message: `At ${field ?? "null"}`,
});
const graph = parse({
  nodes: [
    { id: "a", data: { name: "Hello" } },
    { id: "b", data: { name: "Bye" } },
  ],
  edges: [{ id: "w", source: "a", target: "b", data: { label: "done" } }],
});

it("sorts issues to their step, their edge and their field", () => {
  const found = groupIssues(
    [issue("node", "a", "data.prompt"), issue("edge", "w", "data.label"), issue("workflow", null, "nodes")],
    [issue("node", "a", null)],
  );
  expect([found.errors, found.warnings]).toEqual([3, 1]);
  const atNode = found.byNode.get("a") ?? [];
  expect(issueAt(atNode, "prompt")).toBe("At data.prompt");
  expect(issuesBeside(atNode, ["prompt"]).map((issue) => issue.isError)).toEqual([false]);
  expect(found.all.map((issue) => locationOf(issue, graph))).toEqual(["Hello", "Hello → Bye (done)", "", "Hello"]);
});

it("says what a required field is, as the list of problems does not name it", () => {
  const required = (field: string, message = "Field required.") => ({
    ...issue("edge", "w", field),
    code: "field_required",
    message,
  });
  const found = groupIssues(
    [
      required("data.label"),
      required("data.condition"),
      required("data.url"),
      required("data.name", "Choose a recording."),
    ],
    [],
  );
  expect(found.all.map((each) => each.message)).toEqual([
    "Enter a label.",
    "Enter a condition.",
    "This field is required.",
    "Choose a recording.",
  ]);
});

it("finds the row of a collection, and covers it by the collection", () => {
  const found = groupIssues([issue("node", "a", "data.headers.0.key")], []).all;
  expect(issueAt(found, "headers.0.key")).toBe("At data.headers.0.key");
  expect(issuesBeside(found, ["headers"])).toEqual([]);
});
