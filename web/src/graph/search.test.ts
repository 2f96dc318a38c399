import { describe, expect, it } from "vitest";
import { setNodeData } from "./editing/edit";
import { search } from "./search";
import { GRAPH } from "./graph.fixture";

describe("the search", () => {
  it("finds names first, then texts, then edges", () => {
    const graph = setNodeData(GRAPH, "b", { prompt: "Ask about Always and more" });
    expect(search(setNodeData(graph, "e", { name: "always" }), "ALWAYS").map((hit) => [hit.kind, hit.id])).toEqual([
      ["node", "e"],
      ["node", "b"],
      ["edge", "s-a"],
      ["edge", "s-b"],
      ["edge", "a-e"],
      ["edge", "b-e"],
      ["edge", "b-s"],
    ]);
    expect(search(GRAPH, " ")).toEqual([]);
  });
});
