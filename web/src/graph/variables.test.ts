import { expect, it } from "vitest";
import { setNodeData } from "./editing/edit";
import { knownVariables } from "./variables";
import { GRAPH } from "./graph.fixture";

it("knows the variables that a text can use", () => {
  const graph = setNodeData(GRAPH, "a", {
    prompt: "Dear {{ first_name | there }}",
    extraction_enabled: true,
    extraction_variables: [{ name: "day" }],
  });
  expect(knownVariables(graph, { company: "X" }).slice(0, 3)).toEqual(["company", "day", "first_name"]);
});
