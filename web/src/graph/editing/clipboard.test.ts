import { describe, expect, it } from "vitest";
import { clipOf, serializeNodes, paste } from "./clipboard";
import { parse, type Definition } from "../definition";
import { SPECS, node, GRAPH } from "../graph.fixture";

describe("copying", () => {
  it("brings steps and the edges between them under new ids", () => {
    const clip = clipOf(serializeNodes(GRAPH, ["a", "e"]));
    expect(clip).not.toBeNull();
    const { definition, nodeIds, leftOut } = paste(GRAPH, clip as Definition, { x: 500, y: 0 }, SPECS);
    expect([nodeIds, leftOut]).toEqual([["a-2", "e-2"], 0]);
    expect(definition.edges.at(-1)).toMatchObject({ source: "a-2", target: "e-2", data: { label: "go" } });
  });

  it("leaves out what there may be only one of, and a trigger's address", () => {
    const clip = clipOf(serializeNodes(GRAPH, ["s", "a"])) as Definition;
    expect(paste(GRAPH, clip, { x: 0, y: 0 }, SPECS)).toMatchObject({ nodeIds: ["a-2"], leftOut: 1 });
    const trigger = parse({ nodes: [node("t", "trigger", { trigger_path: "abc" })] });
    expect(paste(GRAPH, trigger, { x: 0, y: 0 }, SPECS).definition.nodes.at(-1)?.data).toEqual({ name: "t" });
  });

  it("does not take other text for steps", () => {
    expect([clipOf("hello"), clipOf('{"kind":"x"}'), serializeNodes(GRAPH, [])]).toEqual([null, null, ""]);
  });
});
