import { describe, expect, it } from "vitest";
import { diff } from "./diff";
import { addStep, moveSteps, remove, setStepData } from "./editing/edit";
import { step, GRAPH } from "./graph.fixture";

describe("two versions", () => {
  it("differ by steps, ways and settings, not by places", () => {
    const before = { definition: GRAPH, settings: { max_call_duration: 300 } };
    expect(
      diff(before, {
        definition: moveSteps(GRAPH, new Map([["a", { x: 9, y: 9 }]])),
        settings: { max_call_duration: 300 },
      }),
    ).toEqual([]);
    const changed = remove(setStepData(addStep(GRAPH, step("n")), "a", { prompt: "New." }), ["b"], []);
    expect(
      diff(before, { definition: changed, settings: {} }).map((item) => `${item.change} ${item.kind} ${item.id}`),
    ).toEqual([
      "changed step a",
      "added step n",
      "removed step b",
      "removed way s-b",
      "removed way b-e",
      "removed way b-s",
      "removed setting max_call_duration",
    ]);
    expect(diff(before, { definition: changed, settings: {} })[0]?.fields).toEqual([
      { field: "prompt", before: undefined, after: "New." },
    ]);
  });
});
