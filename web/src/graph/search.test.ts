import { describe, expect, it } from "vitest";
import { setStepData } from "./editing/edit";
import { search } from "./search";
import { GRAPH } from "./graph.fixture";

describe("the search", () => {
  it("finds names first, then texts, then ways", () => {
    const graph = setStepData(GRAPH, "b", { prompt: "Ask about Always and more" });
    expect(search(setStepData(graph, "e", { name: "always" }), "ALWAYS").map((hit) => [hit.kind, hit.id])).toEqual([
      ["step", "e"],
      ["step", "b"],
      ["way", "s-a"],
      ["way", "s-b"],
      ["way", "a-e"],
      ["way", "b-e"],
      ["way", "b-s"],
    ]);
    expect(search(GRAPH, " ")).toEqual([]);
  });
});
