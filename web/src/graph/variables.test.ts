import { expect, it } from "vitest";
import { setNodeData } from "./editing/edit";
import { givenVariables, knownVariables } from "./variables";
import { GRAPH } from "./graph.fixture";

it("knows the variables that a text can use", () => {
  const graph = setNodeData(GRAPH, "a", {
    prompt: "Dear {{ first_name | there }}",
    extraction_enabled: true,
    extraction_variables: [{ name: "day" }],
  });
  expect(knownVariables(graph, { company: "X" }).slice(0, 3)).toEqual(["company", "day", "first_name"]);
});

it("knows which ones only the start of a call can give", () => {
  const graph = setNodeData(GRAPH, "a", {
    prompt: "{{ initial_context.first_name | there }} {{company}} {{day}} {{current_time_UTC}} {{ phone_number }}",
    say: "{{ order.id }} {{ first_name }}",
    extraction_variables: [{ name: "day" }],
  });
  expect(givenVariables(graph, { company: "X" })).toEqual([
    { name: "first_name", hasDefault: false },
    { name: "order", hasDefault: false },
  ]);
  const polite = setNodeData(GRAPH, "a", { prompt: "{{ first_name | there }}" });
  expect(givenVariables(polite, {})).toEqual([{ name: "first_name", hasDefault: true }]);
});
