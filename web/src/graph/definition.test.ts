import { describe, expect, it } from "vitest";
import { parse, nodeName, summaryOf } from "./definition";
import { diff } from "./diff";
import { reconnect, setEdgeData } from "./editing/edit";
import { issuesBeside, groupIssues, locationOf } from "./validation-issues";
import { search } from "./search";
import { type NodeSpec, canConnect, isShown } from "./specs";

const GRAPH = parse({
  nodes: [{ id: "a", data: { name: "Ask", rows: [{ name: "deep words" }] } }, { id: "b" }],
  edges: [
    { id: "w", source: "a", target: "b", data: { label: "done", digits: "1" } },
    { id: "w", source: "b", target: "a" },
    { source: "a", target: "lost" },
  ],
});

describe("a definition", () => {
  it("gives every edge an id of its own, and a place to what has none", () => {
    expect(GRAPH.edges.map((edge) => edge.id)).toEqual(["w", "w-2", "a-lost"]);
    expect(parse({ nodes: [{ id: "x", position: { x: Number.NaN, y: "7" } }] }).nodes[0]?.position).toEqual({
      x: 0,
      y: 0,
    });
  });

  it("calls a step by its name, else by its id, and sums it up by what is heard first", () => {
    expect(GRAPH.nodes.map(nodeName)).toEqual(["Ask", "b"]);
    const summary = (data: object) => summaryOf({ id: "x", type: "", position: { x: 0, y: 0 }, data: { ...data } });
    expect([
      summary({ prompt: "p", greeting: "g" }),
      summary({ prompt: "p", say: "s" }),
      summary({ endpoint_url: "u" }),
      summary({ trigger_path: "t" }),
      summary({}),
    ]).toEqual(["g", "s", "u", "t", ""]);
  });

  it("can have an edge led elsewhere, which keeps what it says", () => {
    const next = reconnect(setEdgeData(GRAPH, "w", { digits: undefined, condition: "Yes." }), "w", "b", "a");
    expect(next.edges[0]).toMatchObject({ source: "b", target: "a", data: { label: "done", condition: "Yes." } });
    expect(next.edges[0]?.data).not.toHaveProperty("digits");
    expect(next.edges[1]).toBe(GRAPH.edges[1]);
  });

  it("is searched however deep the words are, and long texts are cut around them", () => {
    expect(search(GRAPH, "deep")).toEqual([{ kind: "node", id: "a", title: "Ask", excerpt: "deep words" }]);
    const long = parse({ nodes: [{ id: "x", data: { prompt: `${"a ".repeat(40)}needle${" b".repeat(40)}` } }] });
    expect(search(long, "NEEDLE")[0]?.excerpt).toMatch(/^….{32}needle.{32}…$/);
    expect(search(parse({ nodes: Array.from({ length: 30 }, () => ({ id: "same" })) }), "same")).toHaveLength(20);
  });
});

describe("two versions", () => {
  it("tell which edge of which steps, and settings of one value or of many", () => {
    const empty = { definition: parse({}), settings: {} };
    const full = { definition: GRAPH, settings: { length: 60, voice: { speed: 1 }, list: [1], none: null } };
    expect(
      diff(empty, full)
        .filter((change) => change.kind === "edge")
        .map((change) => change.title),
    ).toEqual(["Ask → b: done", "b → Ask", "Ask → lost"]);
    const changed = { ...full, settings: { length: 90, voice: { speed: 2 }, list: [1], none: null } };
    expect(diff(full, changed).map(({ id, fields }) => [id, fields])).toEqual([
      ["length", [{ field: "value", before: 60, after: 90 }]],
      ["voice", [{ field: "speed", before: 1, after: 2 }]],
    ]);
    expect(diff(full, empty).every((change) => change.change === "removed" && change.fields.length === 0)).toBe(true);
  });
});

describe("what is declared and found", () => {
  const spec = {
    properties: [
      { name: "mode", type: "string" },
      { name: "other", type: "string", display_options: { hide: { mode: ["off"] } } },
    ],
  } as unknown as NodeSpec;

  it("hides a field, and shows a field's old name only where it is used", () => {
    const [, other] = spec.properties;
    if (other === undefined) throw new Error("not there");
    expect([isShown(other, spec, { mode: "off" }), isShown(other, spec, { mode: "on" })]).toEqual([false, true]);
    const old = { ...other, name: "document_uuids" };
    expect([
      isShown(old, spec, {}),
      isShown(old, spec, { document_uuids: [] }),
      isShown(old, spec, { document_uuids: ["x"] }),
    ]).toEqual([false, false, true]);
  });

  it("lets a kind that is not known be joined, and nothing be joined to itself", () => {
    expect([canConnect(new Map(), GRAPH, "a", "b"), canConnect(new Map(), GRAPH, "a", "a")]).toEqual([true, false]);
  });

  it("says where it is wrong", () => {
    const issue = (kind: "node" | "edge" | "workflow", id: string | null, field: string | null = null) => ({
      kind,
      id,
      field,
      code: "x",
      message: "m",
    });
    const { all } = groupIssues(
      [
        issue("node", "a", "data.rows.0.name"),
        issue("edge", "w"),
        issue("edge", "w-2"),
        issue("edge", "gone"),
        issue("workflow", null),
        issue("node", "gone"),
      ],
      [],
    );
    expect(all.map((issue) => locationOf(issue, GRAPH))).toEqual([
      "Ask",
      "Ask → b (done)",
      "b → Ask",
      "",
      "",
      "nowhere",
    ]);
    expect(issuesBeside(all.slice(0, 1), ["rows"])).toEqual([]);
    expect(issuesBeside(all.slice(0, 1), ["row"])).toHaveLength(1);
  });
});
