import { describe, expect, it } from "vitest";
import { parse } from "./definition";
import { addNode } from "./editing/edit";
import { type NodeSpec, canAdd, canConnect, countSteps, isShown, createNode, sectionsOf } from "./specs";
import { node, SPECS, GRAPH } from "./graph.fixture";

describe("the kinds of steps", () => {
  it("say how many there may be and where edges may lead", () => {
    const start = SPECS.get("startCall") as NodeSpec;
    expect([canAdd(start, GRAPH), canAdd(start, parse({}))]).toEqual([false, true]);
    const pairs = [
      ["s", "a"],
      ["a", "s"],
      ["e", "a"],
      ["a", "a"],
      ["a", "e"],
    ] as const;
    expect(pairs.map(([source, target]) => canConnect(SPECS, GRAPH, source, target))).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  it("count as steps where callers talk", () => {
    const specs = new Map(SPECS).set("trigger", { ...(SPECS.get("trigger") as NodeSpec), category: "trigger" });
    expect(countSteps(specs, addNode(GRAPH, node("t", "trigger")))).toBe(GRAPH.nodes.length);
    expect(countSteps(specs, addNode(GRAPH, node("x", "unknown")))).toBe(GRAPH.nodes.length + 1);
  });

  it("give a new step its defaults and a name of its own", () => {
    const spec = SPECS.get("agentNode") as NodeSpec;
    const first = createNode(spec, GRAPH, { x: 1, y: 2 });
    const second = createNode(spec, addNode(GRAPH, first), { x: 1, y: 2 });
    expect(first.data).toEqual({ say_type: "text", name: "agentNode" });
    expect([second.id, second.data["name"]]).toEqual(["agentNode-2", "agentNode 2"]);
  });

  it("show a field when what it depends on has its value, the default counting as one", () => {
    const spec = SPECS.get("agentNode") as NodeSpec;
    const say = spec.properties[2] as NodeSpec["properties"][number];
    expect([isShown(say, spec, {}), isShown(say, spec, { say_type: "audio" })]).toEqual([true, false]);
    expect(sectionsOf(spec).map((section) => section.title)).toEqual(["", "Fixed phrases"]);
  });
});
