import { describe, expect, it } from "vitest";
import { addStep, connect, moveSteps, remove, setStepData, withMinted } from "./edit";
import { step, GRAPH } from "../graph.fixture";

describe("a change", () => {
  it("leaves what it does not touch as it is", () => {
    const next = setStepData(GRAPH, "a", { prompt: "Ask.", name: undefined });
    expect(next.nodes[1]?.data).toEqual({ prompt: "Ask." });
    expect(next.nodes[0]).toBe(GRAPH.nodes[0]);
    expect(moveSteps(GRAPH, new Map([["a", { x: 0, y: 0 }]]))).toBe(GRAPH);
  });

  it("takes the ways along when a step goes", () => {
    const next = remove(GRAPH, ["b"], ["s-a"]);
    expect(next.edges.map((edge) => edge.id)).toEqual(["a-e"]);
  });

  it("joins steps by ways that can be told apart", () => {
    const once = connect(GRAPH, "a", "b");
    const twice = connect(once.definition, "a", "b");
    expect([once.way.data["label"], twice.way.data["label"]]).toEqual(["b", "b-2"]);
    expect(new Set(twice.definition.edges.map((edge) => edge.id)).size).toBe(7);
  });

  it("takes over the address that the server made for a trigger, and nothing else", () => {
    const mine = addStep(GRAPH, step("t", "trigger"));
    const saved = setStepData(setStepData(mine, "t", { trigger_path: "abc" }), "a", { prompt: "theirs" });
    expect(withMinted(mine, saved).nodes.find((node) => node.id === "t")?.data["trigger_path"]).toBe("abc");
    expect(withMinted(mine, saved).nodes[1]).toBe(mine.nodes[1]);
    expect(withMinted(GRAPH, GRAPH)).toBe(GRAPH);
  });
});
